import { execFileSync } from 'node:child_process'
import { appendFile, mkdir, mkdtemp, open, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { journalFile } from '@botcli/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { JournalPosition } from '../agent-logs/agent-log-store.ts'
import { JOURNAL_START, type JournalBatch, JournalReader } from './journal-reader.ts'

const MIB = 1024 * 1024
let folder: string
let journalFolder: string
let outputPath: string
let reader: JournalReader

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'botcli-journal-'))
  journalFolder = join(folder, 'journal')
  outputPath = join(folder, 'output.log')
  await mkdir(journalFolder)
  reader = new JournalReader({ journalFolder, outputPath, clock: () => 0 })
})

afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

function line(msg: string): string {
  return `${JSON.stringify({ type: 'log', line: { time: '2026-01-01T00:00:00.000Z', level: 'info', msg } })}\n`
}

async function write(number: number, text: string): Promise<void> {
  await appendFile(join(journalFolder, journalFile(number)), text)
}

function messages({ records }: JournalBatch): readonly string[] {
  return records.map((record) => (record.type === 'log' ? record.line.msg : record.type))
}

/** Reads until there is nothing more, as its user does. */
async function readAll(
  from: JournalPosition,
  isOver = false,
): Promise<{
  readonly said: readonly string[]
  readonly output: readonly string[]
  readonly at: JournalPosition
}> {
  const said: string[] = []
  const output: string[] = []
  let at = from
  for (;;) {
    const batch = await reader.read(at, { isOver })
    said.push(...messages(batch))
    output.push(...batch.output)
    at = batch.position
    if (!batch.hasMore) return { said, output, at }
  }
}

describe('a journal', () => {
  it('is empty before it begins', async () => {
    expect(await readAll(JOURNAL_START)).toEqual({ said: [], output: [], at: JOURNAL_START })
    await rm(journalFolder, { recursive: true })
    expect(await readAll(JOURNAL_START)).toEqual({ said: [], output: [], at: JOURNAL_START })
  })

  it('is read on from where it was read to, and half a line waits for its rest', async () => {
    await write(1, line('one') + line('two').slice(0, 30))
    const first = await readAll(JOURNAL_START)
    expect(first.said).toEqual(['one'])
    expect((await readAll(first.at)).said).toEqual([])
    await write(1, line('two').slice(30) + line('three'))
    expect((await readAll(first.at)).said).toEqual(['two', 'three'])
  })

  it('gives sessions and losses as they are', async () => {
    const session = { sessionId: 's', state: 'active', createdAt: '2026-01-01T00:00:00.000Z', more: 1 }
    await write(
      1,
      `${JSON.stringify({ type: 'session', session })}\n${JSON.stringify({ type: 'lost', records: 7 })}\n`,
    )
    const { records } = await reader.read(JOURNAL_START)
    expect(records).toEqual([
      { type: 'session', session },
      { type: 'lost', records: 7 },
    ])
  })

  it('gives what it does not understand as a warning', async () => {
    await write(1, `{"type":"log"}\nrubbish\n\n${JSON.stringify({ type: 'other' })}\n${line('after')}`)
    const { records } = await reader.read(JOURNAL_START)
    expect(records[0]).toEqual({
      type: 'log',
      line: { time: '1970-01-01T00:00:00.000Z', level: 'warn', msg: 'not understood: {"type":"log"}' },
    })
    expect((await readAll(JOURNAL_START)).said.slice(1)).toEqual([
      'not understood: rubbish',
      'not understood: {"type":"other"}',
      'after',
    ])
  })

  it('goes on in the next file, and removes a file only when what was read of it is safe', async () => {
    await write(1, line('one'))
    await write(2, line('two'))
    const first = await reader.read(JOURNAL_START)
    expect(messages(first)).toEqual(['one'])
    // A crash before it is safe: it is there again.
    expect(messages(await reader.read(JOURNAL_START))).toEqual(['one'])
    const second = await reader.read(first.position)
    expect(messages(second)).toEqual(['two'])
    expect(await readdir(journalFolder)).toEqual([journalFile(2)])
    await write(3, line('three'))
    expect((await readAll(second.position)).said).toEqual(['three'])
  })

  it('begins with the oldest file that is left', async () => {
    await write(5, line('five'))
    expect((await readAll({ file: 2, offset: 999, output: 0 })).said).toEqual(['five'])
  })

  it('gives half a line at the end of a file that is over', async () => {
    await write(1, `${line('one')}{"type":"lo`)
    await write(2, `${line('two')}half`)
    const { said, at } = await readAll(JOURNAL_START)
    expect(said).toEqual(['one', 'not understood: {"type":"lo', 'two'])
    expect((await readAll(at, true)).said).toEqual(['not understood: half'])
  })

  it('is read in pieces that are not too large, whatever it holds', async () => {
    const many = Array.from({ length: 30_000 }, (_, index) => line(`message ${index}`))
    await write(1, many.join(''))
    const batch = await reader.read(JOURNAL_START)
    expect(batch.position.offset).toBeLessThanOrEqual(MIB)
    expect(batch.hasMore).toBe(true)
    expect((await readAll(JOURNAL_START)).said).toHaveLength(30_000)
    await write(1, `${'x'.repeat(3 * MIB)}\n${line('after')}`)
    const { said } = await readAll(JOURNAL_START)
    expect(said.at(-1)).toBe('after')
    expect(Math.max(...said.map((text) => text.length))).toBeLessThan(70_000)
  })

  it('does not follow links of a bot, nor wait for what nobody writes', async () => {
    await writeFile(join(folder, 'secret.key'), 'a secret\n')
    await symlink(join(folder, 'secret.key'), join(journalFolder, journalFile(1)))
    expect((await readAll(JOURNAL_START)).said).toEqual([])
    await rm(join(journalFolder, journalFile(1)))
    execFileSync('mkfifo', [join(journalFolder, journalFile(1))])
    await write(2, line('two'))
    expect((await readAll(JOURNAL_START)).said).toEqual(['two'])
  })
})

describe('other output', () => {
  it('comes out as clean lines, and half a line when it is over', async () => {
    await writeFile(outputPath, '\u001b[31mred\u001b[0m\r\nhalf')
    const { output, at } = await readAll(JOURNAL_START)
    expect(output).toEqual(['red'])
    await appendFile(outputPath, ' whole\nrest')
    const next = await readAll(at)
    expect(next.output).toEqual(['half whole'])
    expect((await readAll(next.at, true)).output).toEqual(['rest'])
  })

  it('has no endless lines', async () => {
    await writeFile(outputPath, `${'x'.repeat(3 * MIB)}\nafter\n`)
    const { output } = await readAll(JOURNAL_START)
    expect(output.at(-1)).toBe('after')
    expect(Math.max(...output.map((text) => text.length))).toBeLessThanOrEqual(64 * 1024)
    expect(output.join('').replaceAll(/[^x]/g, '')).toHaveLength(3 * MIB)
  })

  it('does not fill the disk, and loses nothing that is read in time', async () => {
    const file = await open(outputPath, 'a')
    let at = JOURNAL_START
    const seen: string[] = []
    let largest = 0
    for (let round = 0; round < 30; round += 1) {
      await file.write(
        Array.from({ length: 5000 }, (_, index) => `${round} ${index} ${'-'.repeat(60)}\n`).join(''),
      )
      const { output, at: next } = await readAll(at)
      seen.push(...output)
      at = next
      largest = Math.max(largest, (await stat(outputPath)).size)
    }
    await file.close()
    expect(seen).toHaveLength(150_000)
    expect(new Set(seen).size).toBe(150_000)
    expect(largest).toBeLessThan(6 * MIB)
  })

  it('says how much is left out when somebody prints faster than anybody reads', async () => {
    const file = await open(outputPath, 'a')
    await file.write(Buffer.alloc(33 * MIB, 'x\n'))
    const { output, at } = await readAll(JOURNAL_START)
    expect(output).toEqual([`[${33 * MIB} bytes of output are left out]`])
    expect((await stat(outputPath)).size).toBe(0)
    await file.write('again\n')
    expect((await readAll(at)).output).toEqual(['again'])
    // A crash before the new position was safe.
    expect((await readAll({ ...at, output: 33 * MIB })).output).toEqual(['again'])
    await file.close()
  })
})
