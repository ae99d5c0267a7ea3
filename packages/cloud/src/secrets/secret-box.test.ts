import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSecretBox } from './key-file.ts'
import { type BoxKey, SecretBox } from './secret-box.ts'

const key = (id: string): BoxKey => ({ id, bytes: randomBytes(32) })

describe('a secret box', () => {
  const [one, two] = [key('00000001'), key('00000002')]
  it('opens what it has sealed, each time another', () => {
    const box = new SecretBox(one)
    for (const value of ['', 'x', 'ümlaut \u0000 \n', 'x'.repeat(65_536)]) {
      const sealed = box.seal(value, 'place')
      expect(box.open(sealed, 'place')).toBe(value)
      expect(Buffer.from(box.seal(value, 'place')).equals(Buffer.from(sealed))).toBe(false)
      if (value.length > 1) expect(Buffer.from(sealed).includes(value)).toBe(false)
    }
  })

  it('opens nothing that was moved or changed, in any byte', () => {
    const box = new SecretBox(one)
    const sealed = box.seal('value', 'a/b/c')
    expect(() => box.open(sealed, 'a/b/d')).toThrow()
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed)
      changed[at] = (changed[at] ?? 0) ^ 1
      expect(() => box.open(changed, 'a/b/c')).toThrow()
    }
    expect(() => box.open(sealed.subarray(0, 20), 'a/b/c')).toThrow()
  })

  it('seals with the newest key and opens with all it has', () => {
    const sealed = new SecretBox(one).seal('old', 'p')
    const rotated = new SecretBox(two, one)
    expect(rotated.open(sealed, 'p')).toBe('old')
    expect(new SecretBox(two).open(rotated.seal('new', 'p'), 'p')).toBe('new')
    expect(() => new SecretBox(two).open(sealed, 'p')).toThrow(/00000001/)
  })
})

describe('the key file', () => {
  let folder: string
  let path: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'botcli-key-'))
    path = join(folder, 'secret.key')
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  it('is made once, for its owner only', () => {
    const sealed = openSecretBox(path, true).seal('v', 'p')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const text = readFileSync(path, 'utf8')
    expect(openSecretBox(path, true).open(sealed, 'p')).toBe('v')
    expect(readFileSync(path, 'utf8')).toBe(text)
  })

  it.each([0o640, 0o604, 0o644, 0o660, 0o601])(
    'is refused when others can use it (%o), with what mends it',
    (mode) => {
      openSecretBox(path, true)
      chmodSync(path, mode)
      expect(() => openSecretBox(path, true)).toThrow(`chmod 600 '${path}'`)
    },
  )

  it('is not replaced when it is gone or broken', () => {
    expect(() => openSecretBox(path, false)).toThrow(/is gone/)
    for (const text of ['', 'text', 'abcdefgh AAAA\n']) {
      writeFileSync(path, text, { mode: 0o600 })
      expect(() => openSecretBox(path, true)).toThrow(/Put back/)
    }
  })
})
