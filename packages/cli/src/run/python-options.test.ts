import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findBot } from '@botcli/runner'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseOptions } from '../options/parse.ts'
import { RUN_OPTIONS } from './options.ts'
import { resolveConfig } from './resolve.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'botcli-resolve-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function resolve(bot: string, argv: readonly string[]) {
  await writeFile(join(folder, bot), '')
  const surroundings = { env: {}, cwd: folder, pageDir: undefined, findBot }
  return resolveConfig(parseOptions([bot, ...argv], RUN_OPTIONS), surroundings)
}

describe('a bot in Python', () => {
  it.each([
    [[], { start: 'fork' }],
    [['--python', 'python3.12'], { start: 'fork', path: 'python3.12' }],
    [['--python', '/opt/python'], { start: 'fork', path: '/opt/python' }],
    [['--python-start', 'spawn'], { start: 'spawn' }],
  ])('with %j', async (argv, python) => {
    expect((await resolve('bot.py', argv)).python).toEqual(python)
  })

  it('gets a path of the folder in which the command was given', async () => {
    expect((await resolve('bot.py', ['--python', 'env/bin/python'])).python.path).toBe(
      join(folder, 'env/bin/python'),
    )
  })

  it('cannot run inside the runner', async () => {
    await expect(resolve('bot.py', ['--isolation', 'inline'])).rejects.toMatchObject({
      problems: [
        '--isolation inline cannot be used with bot.py: a bot in Python needs a process of its own.',
      ],
    })
  })
})

it.each([
  ['bot.ts', ['--python', 'python3'], '--python is for bots in Python, and bot.ts is none.'],
  ['bot.js', ['--python-start', 'fork'], '--python-start is for bots in Python, and bot.js is none.'],
  ['bot.py', ['--python-start', 'thread'], '--python-start must be one of fork, spawn, not "thread".'],
  ['bot.py', ['--python', ' '], '--python must be the path or the name of a program, not " ".'],
])('%s with %j is refused', async (bot, argv, problem) => {
  await expect(resolve(bot, argv)).rejects.toMatchObject({ problems: [problem] })
})
