import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { credentialsFile } from '../remote/credentials.ts'
import { CloudDouble, DOUBLE_KEY } from '../testing/cloud-double.ts'
import { folderWith } from '../testing/folder.ts'
import { KEYS, PseudoTerminal } from '../testing/pseudo-terminal.ts'
import { typed } from '../testing/typed-command.ts'

const BIN = fileURLToPath(new URL('../../bin/botcli.js', import.meta.url))

async function home() {
  return { HOME: await folderWith({}) }
}

async function stored(env: Readonly<Record<string, string>>): Promise<unknown> {
  return JSON.parse(await readFile(credentialsFile(env), 'utf8').catch(() => 'null'))
}

describe('botcli login', () => {
  it('tries a key out, says whose it is, and stores it', async () => {
    const cloud = await CloudDouble.start()
    const env = await home()
    const { code, stdout, stderr } = await typed(['login', cloud.url, '--key', DOUBLE_KEY], { env })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toBe(
      `Signed in to ${cloud.url} with the key "the first key" (sk_double_01…).\nStored in ${credentialsFile(env)}, for you alone.\n`,
    )
    expect(await stored(env)).toEqual({ url: cloud.url, key: DOUBLE_KEY })
    expect((await typed(['keys', 'list'], { env })).code).toBe(0)
  })

  it.each([[['--key', '-']], [[]]])('reads it from stdin with %j', async (argv) => {
    const cloud = await CloudDouble.start()
    const env = await home()
    const { code, stdout } = await typed(['login', cloud.url, ...argv, '--json'], {
      env,
      input: `${DOUBLE_KEY}\n`,
    })
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ url: cloud.url, key: { name: 'the first key' } })
    expect(stdout).not.toContain(DOUBLE_KEY)
  })

  it.each([
    ['sk_unknown_key', 1, 'botcli login: The key is missing or unknown.\n'],
    ['pk_public_key_1', 2, 'That is a public key (pk_…)'],
    ['with space', 2, 'must be a private key (sk_…)'],
  ])('stores nothing for %j', async (key, expected, message) => {
    const cloud = await CloudDouble.start()
    const env = await home()
    const { code, stderr } = await typed(['login', cloud.url, '--key', key], { env })
    expect(stderr).toContain(message)
    expect(code).toBe(expected)
    expect(await stored(env)).toBeNull()
  })

  it.each([
    [['ftp://x'], 'URL must be the address of a cloud'],
    [['http://user:pass@x'], 'URL must be the address of a cloud'],
    [['http://x', 'y'], 'Usage: botcli login [URL] [options]'],
    [['http://x'], 'No key was given.'],
  ])('%j is refused', async (argv, message) => {
    const { code, stderr } = await typed(['login', ...argv], { env: await home() })
    expect(code).toBe(2)
    expect(stderr).toContain(message)
  })

  it('tells that variables win', async () => {
    const cloud = await CloudDouble.start()
    const env = { ...(await home()), ...cloud.env }
    const { stderr } = await typed(['login', cloud.url, '--key', DOUBLE_KEY], { env })
    expect(stderr).toContain('BOTCLI_API_KEY is set, and wins over what was stored.')
  })
})

describe('botcli logout', () => {
  it('forgets the key', async () => {
    const cloud = await CloudDouble.start()
    const env = await home()
    await typed(['login', cloud.url, '--key', DOUBLE_KEY], { env })
    expect((await typed(['logout'], { env })).stdout).toMatch(/^Signed out: .* is removed\.\n$/)
    expect(await stored(env)).toBeNull()
    expect((await typed(['logout', '--json'], { env })).stdout).toBe('{\n  "removed": false\n}\n')
    const { code, stderr } = await typed(['build', 'list'], { env })
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'botcli build list: You are not signed in to a cloud. Run: botcli login\n',
    })
  })
})

describe('on a terminal', () => {
  function open(argv: readonly string[], env: Readonly<Record<string, string>>): PseudoTerminal {
    const terminal = new PseudoTerminal([process.execPath, BIN, ...argv], '/', env)
    onTestFinished(() => terminal.close())
    return terminal
  }

  it('the key is asked for, and does not show', async () => {
    const cloud = await CloudDouble.start()
    const env = await home()
    const terminal = open(['login', cloud.url], env)
    await terminal.see(`Private key for ${cloud.url}: `)
    terminal.type('wrong', '\u0015', KEYS.up, DOUBLE_KEY, 'x', '\u007f', KEYS.enter)
    await terminal.see('Signed in to')
    expect(await terminal.ended).toBe(0)
    expect(terminal.screen).not.toContain(DOUBLE_KEY)
    expect(terminal.screen).not.toContain('wrong')
    expect(await stored(env)).toEqual({ url: cloud.url, key: DOUBLE_KEY })
  })

  it.each([
    ['Ctrl-C', KEYS.interrupt, 130],
    ['Ctrl-D', '\u0004', 2],
  ])('%s leaves, and nothing is stored', async (_, key, expected) => {
    const cloud = await CloudDouble.start()
    const env = await home()
    const terminal = open(['login', cloud.url], env)
    await terminal.see('Private key')
    terminal.type('abc')
    if (key !== KEYS.interrupt) terminal.type('\u0015')
    terminal.type(key)
    expect(await terminal.ended).toBe(expected)
    expect(terminal.screen).not.toContain('abc')
    expect(await stored(env)).toBeNull()
    expect(cloud.seen).toEqual([])
  })

  it('values of secrets are asked for, and do not show', async () => {
    const cloud = await CloudDouble.start()
    const terminal = open(['secrets', 'set', 'my-bot', 'A', 'B'], { ...(await home()), ...cloud.env })
    await terminal.see('Value of A: ')
    terminal.type('hush 1', KEYS.enter)
    await terminal.see('Value of B: ')
    terminal.type('hush=2', KEYS.enter)
    await terminal.see('my-bot (local) has new values for A, B.')
    expect(await terminal.ended).toBe(0)
    expect(terminal.screen).not.toContain('hush')
    expect([...(cloud.sets.get('my-bot') ?? [])]).toEqual([
      ['A', 'hush 1'],
      ['B', 'hush=2'],
    ])
  })

  it('what opens a registry is asked for, and does not show', async () => {
    const cloud = await CloudDouble.start()
    let sent = ''
    cloud.intercept = (_request, _response, body) => {
      sent = body.toString()
      return [202, { status: 'OK', region: 'local' }]
    }
    const env = { ...(await home()), ...cloud.env }
    const terminal = open(['secrets', 'image-pull-secret', 'registry', 'ghcr.io'], env)
    await terminal.see('USER:TOKEN for ghcr.io: ')
    terminal.type('me:hush', KEYS.enter)
    await terminal.see('registry (local) opens the registry ghcr.io.')
    expect(await terminal.ended).toBe(0)
    expect(terminal.screen).not.toContain('hush')
    expect(sent).toContain(Buffer.from('me:hush').toString('base64'))
  })

  it('the log of a build is left by two presses of Ctrl-C', async () => {
    const cloud = await CloudDouble.start()
    cloud.onCancel = () => {}
    cloud.onBuild = (build) => build.log('working')
    const folder = await folderWith({ Dockerfile: 'FROM x' })
    const terminal = open(['build', 'create', folder], { ...(await home()), ...cloud.env })
    await terminal.see('100%')
    await terminal.see('working')
    terminal.type(KEYS.interrupt)
    await terminal.see('Cancelling the build.')
    await new Promise((resolve) => setTimeout(resolve, 150))
    terminal.type(KEYS.interrupt)
    expect(await terminal.ended).toBe(130)
  })
})
