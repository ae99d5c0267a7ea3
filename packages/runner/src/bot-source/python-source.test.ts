import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { PythonStart } from '../config.ts'
import type { PythonCode } from '../guests/guest.ts'
import { LogCapture } from '../testing/log-capture.ts'
import { until } from '../testing/runner-fixture.ts'
import type { BotState } from './bot-source.ts'
import { PythonSource } from './python-source.ts'

const BOT = 'async def bot(args):\n    pass\n'

let folder: string
let source: PythonSource
let log: LogCapture
let versions: number[]

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'botcli-python-')))
  log = new LogCapture()
  versions = []
})
afterEach(async () => {
  await source.close()
  await rm(folder, { recursive: true, force: true })
})

async function save(name: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, name)), { recursive: true })
  await writeFile(join(folder, name), text)
}

function codeOf(state: BotState): PythonCode {
  if (state.kind === 'broken' || state.code.kind !== 'python') throw new Error('this is no Python')
  return state.code
}

async function open(start: PythonStart = 'fork', place = ''): Promise<void> {
  const options = {
    logger: log.logger,
    onChange: (state: BotState) => versions.push(codeOf(state).version),
    cwd: folder,
    python: { start },
    env: { PATH: process.env.PATH ?? '' },
    maxMemoryBytes: 2 ** 30,
  }
  const file = { path: join(folder, place, 'bot.py'), folder: join(folder, place) }
  source = await PythonSource.open(file, options)
}

/** Loads the newest code, as a pool does; whether that was possible. */
async function load(): Promise<boolean> {
  try {
    const guest = await codeOf(source.current).program.start(new AbortController().signal)
    await guest.stop(0)
    return true
  } catch {
    return false
  }
}

const version = (wanted: number) => until(() => versions.includes(wanted), `version ${wanted}`)

/** Waits long enough for a change to be noticed. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 400))

it.each(['fork', 'spawn'] as const)(
  'has a new version after a save, of the bot or of what it imports (%s)',
  async (start) => {
    await save('lib/a.py', 'x = 1\n')
    await save('bot.py', `import lib.a\n${BOT}`)
    await open(start)
    expect(codeOf(source.current).version).toBe(1)
    expect(await load()).toBe(true)
    await save('bot.py', `import lib.a\n# more\n${BOT}`)
    await version(2)
    expect(log.lines.at(-1)?.msg).toBe('bot.py was saved; new sessions get the new code')
    expect(await load()).toBe(true)
    await save('lib/.a.py.swp', 'x = 2\n')
    await rename(join(folder, 'lib/.a.py.swp'), join(folder, 'lib/a.py'))
    await version(3)
  },
)

it('notices saves of what it imports from elsewhere, also while that is broken', async () => {
  const shared = join(folder, 'lib/shared.py')
  await save('lib/shared.py', 'x = 1\n')
  await save('server/bot.py', `import sys\nsys.path.append('../lib')\nimport shared\n${BOT}`)
  await open('fork', 'server')
  expect(await load()).toBe(true)
  await settle()
  // A cache of the interpreter knows a file by its size and the second in which it was saved.
  await writeFile(shared, 'x = 12 (\n')
  await version(2)
  expect(await load()).toBe(false)
  await writeFile(shared, 'x = 123 (\n')
  await version(3)
  expect(await load()).toBe(false)
  await writeFile(shared, 'x = 1234\n')
  await version(4)
  expect(await load()).toBe(true)
  await settle()
  await save('lib/other.py', 'x = 1\n')
  await settle()
  expect(versions).toEqual([2, 3, 4])
})

it('notices saves in every one of its folders, however many files there are', async () => {
  const names = Array.from({ length: 300 }, (_, number) => `m${number}`)
  for (const name of names) await save(`${name}.py`, '')
  await save('z/last.py', 'x = 1\n')
  await save('bot.py', `import ${names.join(', ')}, z.last\n${BOT}`)
  await open()
  expect(await load()).toBe(true)
  await settle()
  await save('z/last.py', 'x = 12\n')
  await version(2)
})

it('notices a new file in its folder, but neither a save of the same nor of what it does not import', async () => {
  await save('other/tool.py', 'x = 1\n')
  await save('script.py', 'x = 1\n')
  await save('bot.py', BOT)
  await open()
  await load()
  await settle()
  await save('bot.py', BOT)
  await save('script.py', 'x = 2\n')
  await save('other/tool.py', 'x = 2\n')
  await save('notes.txt', 'x')
  await settle()
  expect(versions).toEqual([])
  await save('helper.py', 'x = 1\n')
  await version(2)
})

it('gets well when what was missing appears, in a folder that was not there', async () => {
  await save('bot.py', `import lib.a\n${BOT}`)
  await open()
  expect(await load()).toBe(false)
  await save('lib/a.py', 'x = 1\n')
  await version(2)
  expect(await load()).toBe(true)
})

it('notices what was saved while it was loaded', async () => {
  const begun = join(folder, 'begun')
  await save('bot.py', `import time\nopen(${JSON.stringify(begun)}, 'w').close()\ntime.sleep(60)\n${BOT}`)
  await open()
  const loading = load()
  await until(() => existsSync(begun), 'the bot to be loaded')
  await save('bot.py', BOT)
  await version(2)
  expect(await loading).toBe(false)
  expect(await load()).toBe(true)
})

it('says only once that the code cannot be forked', async () => {
  const threads = `import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n${BOT}`
  await save('bot.py', threads)
  await open()
  await load()
  await save('bot.py', `${threads}# more\n`)
  await version(2)
  await load()
  expect(log.lines.filter(({ msg }) => msg.includes('cannot be forked'))).toHaveLength(1)
})

it('notices nothing after it was closed', async () => {
  await save('bot.py', BOT)
  await open()
  await load()
  await source.close()
  await source.close()
  await save('bot.py', `${BOT}\n`)
  await settle()
  expect(versions).toEqual([])
})

it('is refused when there is no Python for it', async () => {
  await save('bot.py', BOT)
  await open()
  const options = { logger: log.logger, env: {}, maxMemoryBytes: 2 ** 30 }
  const opening = PythonSource.open(
    { path: join(folder, 'bot.py'), folder },
    { ...options, python: { start: 'fork', path: join(folder, 'nowhere') } },
  )
  await expect(opening).rejects.toThrow('was not found')
})
