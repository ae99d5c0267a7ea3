import { mkdir, mkdtemp, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createLogger } from '../log/logger.ts'
import { BotSource, type BotState } from './bot-source.ts'

let folder: string
let source: BotSource | undefined
let log: { level: string; msg: string }[]
let states: BotState[]
let wake: () => void

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'botcli-source-')))
  log = []
  states = []
  wake = () => {}
})
afterEach(async () => {
  await source?.close()
  source = undefined
  await rm(folder, { recursive: true, force: true })
})

const save = (name: string, text: string) => writeFile(join(folder, name), text)

async function open(): Promise<BotSource> {
  const logger = createLogger({ stream: { write: (line) => log.push(JSON.parse(line)) } })
  const onChange = (state: BotState) => {
    states.push(state)
    wake()
  }
  source = await BotSource.open({ path: join(folder, 'bot.ts'), folder }, { logger, onChange, cwd: folder })
  return source
}

/** Waits until a state arrives that fits; writing in several steps may show states in between. */
async function until(fits: (state: BotState) => boolean): Promise<BotState> {
  for (;;) {
    const found = states.find(fits)
    if (found) return found
    await new Promise<void>((resolve) => {
      wake = resolve
    })
  }
}

async function value(state: BotState): Promise<unknown> {
  if (state.kind === 'broken') throw new Error(state.message)
  if (state.code.kind !== 'javascript') throw new Error('this is no module')
  return (await import(state.code.url)).bot()
}

it('gives a module at once, and a new one after a save', async () => {
  await save('bot.ts', 'export const bot = () => 1\n')
  const opened = await open()
  expect(opened.current).toMatchObject({ kind: 'ready', code: { version: 1 } })
  expect(await value(opened.current)).toBe(1)
  await save('bot.ts', 'export const bot = () => 2\n')
  const next = await until((state) => state.kind === 'ready' && state.code.version >= 2)
  expect(await value(opened.current)).toBe(2)
  expect(next.kind === 'ready' && log.at(-1)?.msg).toBe('reloaded bot.ts')
})

it('notices a save by renaming, and a save of an imported file in another folder', async () => {
  await mkdir(join(folder, 'lib'))
  await save('lib/a.ts', 'export const a = 1\n')
  await save('bot.ts', 'import { a } from "./lib/a.ts"\nexport const bot = () => a\n')
  const opened = await open()
  for (const round of [2, 3]) {
    states.length = 0
    await save('lib/.a.ts.swp', `export const a = ${round}\n`)
    await rename(join(folder, 'lib/.a.ts.swp'), join(folder, 'lib/a.ts'))
    await until((state) => state.kind === 'ready')
    expect(await value(opened.current)).toBe(round)
  }
})

it('tells of a broken save with file and line, and of the next good one', async () => {
  await save('bot.ts', 'export const bot = () => 1\n')
  const opened = await open()
  await save('bot.ts', '\nexport const bot = (\n')
  await until((state) => state.kind === 'broken' && state.message.includes('bot.ts:3:1'))
  expect(opened.current.kind).toBe('broken')
  expect(log.find((line) => line.level === 'error')?.msg).toContain('bot.ts:3:1: Unexpected end of file')
  states.length = 0
  await save('bot.ts', 'export const bot = () => 3\n')
  await until((state) => state.kind === 'ready')
  expect(await value(opened.current)).toBe(3)
  expect(log.at(-1)?.msg).toBe('reloaded bot.ts')
})

it('is broken from the start when the code is, and gets well when a missing file appears', async () => {
  await save('bot.ts', 'import { a } from "./lib/a.ts"\nexport const bot = () => a\n')
  const opened = await open()
  expect(opened.current).toMatchObject({ kind: 'broken', message: expect.stringContaining('bot.ts:1:19') })
  expect(log).toEqual([])
  await mkdir(join(folder, 'lib'))
  await save('lib/a.ts', 'export const a = 7\n')
  await until((state) => state.kind === 'ready')
  expect(await value(opened.current)).toBe(7)
})

it('notices nothing after it was closed', async () => {
  await save('bot.ts', 'export const bot = () => 1\n')
  const opened = await open()
  await save('bot.ts', 'export const bot = () => 2\n')
  await opened.close()
  await opened.close()
  expect(opened.current).toMatchObject({ kind: 'ready', code: { version: 1 } })
})
