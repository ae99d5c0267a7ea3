import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { mkdtemp, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { journalFile } from '@botcli/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FOREIGN_LINE, MADE_HERE, makeHole } from '../testing/rubbish.ts'
import { JOURNAL_START, JournalReader } from './journal-reader.ts'
import type { Obstacle } from './obstacle.ts'
import { removeFolder } from './remove-folder.ts'

const MIB = 1024 * 1024
let folder: string
let journalFolder: string
let outputPath: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'botcli-obstacle-'))
  journalFolder = join(folder, 'journal')
  outputPath = join(folder, 'output.log')
  mkdirSync(journalFolder)
})

afterEach(() => removeFolder(folder))

function say(number: number, msg: string): void {
  const line = { time: '2026-01-01T00:00:00.000Z', level: 'info', msg }
  appendFileSync(join(journalFolder, journalFile(number)), `${JSON.stringify({ type: 'log', line })}\n`)
}

/** Reads to the end, or so often that there must be one. */
async function readAll({ isOver = false } = {}): Promise<{
  readonly said: readonly string[]
  readonly output: readonly string[]
  readonly obstacles: readonly Obstacle[]
}> {
  const reader = new JournalReader({ journalFolder, outputPath })
  const [said, output]: [string[], string[]] = [[], []]
  const obstacles = new Set<Obstacle>()
  let position = JOURNAL_START
  for (let count = 0; count < 200; count += 1) {
    const batch = await reader.read(position, { isOver })
    said.push(...batch.records.map((record) => (record.type === 'log' ? record.line.msg : record.type)))
    output.push(...batch.output)
    for (const obstacle of batch.obstacles) obstacles.add(obstacle)
    position = batch.position
    if (!batch.hasMore) return { said, output, obstacles: [...obstacles] }
  }
  throw new Error('it has no end')
}

describe.each(MADE_HERE)('$name', ({ by, make }) => {
  const kind = by === 'user' ? 'locked' : 'strange'

  it.each([false, true])('before a file of a journal is left out (isOver: %s)', async (isOver) => {
    make(join(journalFolder, journalFile(1)))
    say(2, 'two')
    expect(await readAll({ isOver })).toEqual({ said: ['two'], output: [], obstacles: [`journal-${kind}`] })
  })

  it('among files that were read, or after them, keeps nobody from the others', async () => {
    make(join(journalFolder, journalFile(0)))
    say(1, 'one')
    say(2, 'two')
    expect((await readAll({ isOver: true })).said).toEqual(['one', 'two'])
  })

  it.each([false, true])('in the place of the output is left as it is (isOver: %s)', async (isOver) => {
    make(outputPath)
    say(1, 'one')
    expect(await readAll({ isOver })).toEqual({
      ...{ said: ['one'], output: [], obstacles: [`output-${kind}`] },
    })
    const foreign = await readFile(join(folder, 'foreign'), 'utf8').catch(() => FOREIGN_LINE)
    expect(foreign).toBe(FOREIGN_LINE)
  })

  it('is removed with its folder', async () => {
    make(join(journalFolder, journalFile(1)))
    await removeFolder(journalFolder)
    expect(await readdir(folder)).toEqual([])
  })
})

it('a link in the place of a long output does not have its target emptied', async () => {
  const target = join(folder, 'another')
  writeFileSync(target, Buffer.alloc(40 * MIB))
  symlinkSync(target, outputPath)
  expect((await readAll()).obstacles).toEqual(['output-strange'])
  expect((await readFile(target)).length).toBe(40 * MIB)
})

it('a file of a journal that has no end is read only so far', async () => {
  makeHole(join(journalFolder, journalFile(1)))
  say(2, 'two')
  const { said, obstacles } = await readAll({ isOver: true })
  expect(said.at(-1)).toBe('two')
  expect(said.join('').length).toBeLessThanOrEqual(65 * MIB)
  expect(obstacles).toEqual(['journal-long'])
})

it('of an output that has no end, the end is read', async () => {
  makeHole(outputPath)
  appendFileSync(outputPath, '\nmy last words')
  const { output } = await readAll({ isOver: true })
  expect(output[0]).toMatch(/^\[\d+ bytes of output are left out\]$/)
  expect(output.at(-1)).toBe('my last words')
})

it('very many short lines are read in pieces that are not too many at once', async () => {
  writeFileSync(join(journalFolder, journalFile(1)), '1\n'.repeat(20_000))
  writeFileSync(outputPath, '\n'.repeat(20_000))
  const { records, output } = await new JournalReader({ journalFolder, outputPath }).read(JOURNAL_START)
  expect([records.length, output.length]).toEqual([1000, 1000])
  const all = await readAll()
  expect([all.said.length, all.output.length]).toEqual([20_000, 20_000])
})

it('a journal of very many files is not looked at to its end', async () => {
  for (let number = 1; number <= 1100; number += 1)
    writeFileSync(join(journalFolder, journalFile(number)), '')
  const { obstacles } = await new JournalReader({ journalFolder, outputPath }).read(JOURNAL_START)
  expect(obstacles).toEqual(['journal-crowded'])
})

it('a journal whose folder is gone, or something else, is empty', async () => {
  renameSync(journalFolder, join(folder, 'elsewhere'))
  expect(await readAll()).toEqual({ said: [], output: [], obstacles: ['journal-gone'] })
  symlinkSync(join(folder, 'elsewhere'), journalFolder)
  writeFileSync(join(folder, 'elsewhere', journalFile(1)), FOREIGN_LINE)
  expect(await readAll()).toEqual({ said: [], output: [], obstacles: ['journal-closed'] })
  rmSync(journalFolder)
  writeFileSync(journalFolder, FOREIGN_LINE)
  expect(await readAll()).toEqual({ said: [], output: [], obstacles: ['journal-closed'] })
})
