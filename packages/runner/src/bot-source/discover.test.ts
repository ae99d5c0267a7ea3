import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findBot } from './discover.ts'

const BOT = 'export async function bot() {}\n'
let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'botcli-discover-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function files(contents: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(contents)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
}

it('takes the given file, whatever its name', async () => {
  await files({ 'my-bot.ts': BOT, 'bot.ts': BOT })
  expect(await findBot('my-bot.ts', folder)).toEqual({ path: join(folder, 'my-bot.ts'), folder })
})

it('finds the usual names in their order, in the given or the current folder', async () => {
  await files({ 'bot.mjs': BOT, 'bot.js': BOT, 'sub/bot.mts': BOT })
  expect((await findBot(undefined, folder)).path).toBe(join(folder, 'bot.js'))
  expect(await findBot('sub', folder)).toEqual({
    path: join(folder, 'sub/bot.mts'),
    folder: join(folder, 'sub'),
  })
})

it('falls back to the server folder', async () => {
  await files({ 'server/bot.ts': BOT, 'tool.ts': 'export const x = 1' })
  expect((await findBot(undefined, folder)).path).toBe(join(folder, 'server/bot.ts'))
})

it('finds the one file that exports bot, by parsing it', async () => {
  await files({
    'agent.ts': 'const run = async () => {}\nexport { run as bot }\n',
    'comment.ts': '// export async function bot() {}\nexport const text = "export function bot"\n',
    'types.ts': 'export type bot = string\n',
    'nested.ts': 'function f() { const bot = 1; return bot }\nexport { f }\n',
    'agent.test.ts': BOT,
    'vite.config.ts': BOT,
  })
  expect((await findBot(undefined, folder)).path).toBe(join(folder, 'agent.ts'))
})

it('does not choose among several', async () => {
  await files({ 'one.ts': BOT, 'two.mjs': BOT })
  await expect(findBot(undefined, folder)).rejects.toMatchObject({
    code: 'bot_ambiguous',
    message: expect.stringContaining('one.ts, two.mjs'),
  })
})

it('says what it looked for when there is nothing', async () => {
  await expect(findBot(undefined, folder)).rejects.toMatchObject({
    code: 'bot_not_found',
    message: expect.stringContaining('bot.ts, bot.mts, bot.js, bot.mjs, bot.py'),
  })
  await expect(findBot('nowhere', folder)).rejects.toMatchObject({ code: 'bot_not_found' })
})

it('names files that it could not parse instead of passing over them', async () => {
  await files({ 'agent.ts': 'export async function bot( {\n' })
  await expect(findBot(undefined, folder)).rejects.toMatchObject({
    code: 'bot_not_found',
    detail: expect.stringContaining('agent.ts:'),
  })
})

it('refuses files that are no code', async () => {
  await files({ 'notes.txt': '' })
  await expect(findBot('notes.txt', folder)).rejects.toMatchObject({ code: 'bot_not_supported' })
})

describe('a bot in Python', () => {
  const PYTHON = 'async def bot(args):\n    pass\n'

  it('is found by its path, in the folder and in the server folder', async () => {
    await files({ 'server/bot.py': PYTHON, 'my-bot.py': 'x = 1\n' })
    expect(await findBot('my-bot.py', folder)).toEqual({ path: join(folder, 'my-bot.py'), folder })
    const inServer = { path: join(folder, 'server/bot.py'), folder: join(folder, 'server') }
    expect(await findBot(undefined, folder)).toEqual(inServer)
    await files({ 'bot.py': PYTHON })
    expect((await findBot(undefined, folder)).path).toBe(join(folder, 'bot.py'))
  })

  it('is not preferred to another, nor the other way round', async () => {
    await files({ 'bot.py': PYTHON, 'bot.ts': BOT })
    await expect(findBot(undefined, folder)).rejects.toMatchObject({
      code: 'bot_ambiguous',
      message: expect.stringContaining('bot.ts, bot.py'),
    })
    expect((await findBot('bot.py', folder)).path).toBe(join(folder, 'bot.py'))
  })

  it.each([
    ['a coroutine', PYTHON],
    ['a function', 'def bot (args): ...\n'],
    ['a name', 'from x import y\nbot = y.bot\n'],
    ['a name with a type', 'bot: Callable[..., None] = make()\n'],
    ['a function after texts with quotes in them', `a = "\\""\nb = '"""'\nasync def bot(args): ...\n`],
  ])('is the one file that defines bot as %s', async (_, source) => {
    await files({ 'agent.py': source, 'test_agent.py': PYTHON, 'conftest.py': PYTHON, 'other.py': 'x = 1\n' })
    expect((await findBot(undefined, folder)).path).toBe(join(folder, 'agent.py'))
  })

  it.each([
    ['in a text', 'doc = """\nasync def bot(args): ...\n"""\n'],
    ['in a comment', '# async def bot(args): ...\n'],
    ['inside of something', 'class A:\n    async def bot(self): ...\n'],
    ['under a longer name', 'async def bottle(args): ...\nbot2 = 1\nbot == 3\n'],
  ])('is not a file that has bot only %s', async (_, source) => {
    await files({ 'agent.py': source })
    await expect(findBot(undefined, folder)).rejects.toMatchObject({ code: 'bot_not_found' })
  })

  it('is not chosen among several files that define bot, whatever their language', async () => {
    await files({ 'one.ts': BOT, 'two.py': PYTHON })
    await expect(findBot(undefined, folder)).rejects.toMatchObject({
      code: 'bot_ambiguous',
      message: expect.stringContaining('one.ts, two.py'),
    })
  })
})
