import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { RunnerConfig } from '@botcli/runner'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PythonRunner } from '../../../runner/src/testing/python-runner.ts'
import { until } from '../../../runner/src/testing/runner-fixture.ts'
import { WebsocketClient } from '../../../runner/src/testing/websocket-client.ts'
import { StartedRunner } from '../testing/started-runner.ts'

/** Tells in which environment it runs. */
const BOT = `
import os, sys
import only_here
from botcli import TransportParams, create_transport
async def bot(args):
    transport = await create_transport(args, {'websocket': TransportParams})
    names = ('ENV', 'FROM_FILE', 'FROM_BOTH', 'WITH_SIGNS')
    values = {name: os.environ.get(name) for name in names}
    transport.rtvi.server_message({'home': only_here.HOME, 'prefix': sys.prefix, 'cwd': os.getcwd(), **values})
    await transport.wait_ended()
`

/** Makes a virtual environment with one package of its own, and gives its folder. */
async function makeEnvironment(folder: string): Promise<string> {
  await promisify(execFile)('python3', ['-m', 'venv', '--without-pip', folder])
  const [version = ''] = await readdir(join(folder, 'lib'))
  const home = await realpath(folder)
  await writeFile(
    join(folder, 'lib', version, 'site-packages/only_here.py'),
    `HOME = ${JSON.stringify(home)}\n`,
  )
  return home
}

async function told(runnerUrl: string): Promise<Record<string, unknown>> {
  const client = await WebsocketClient.connect(`${runnerUrl.replace('http', 'ws')}/ws-client`)
  const { data = {} } = await client.message('server-message')
  client.close()
  return data
}

describe('the virtual environment of a Python bot', () => {
  let folder: string
  let other: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'botcli-venv-'))
    other = await makeEnvironment(join(folder, 'other'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  const env = (variables: Record<string, string> = {}) => ({ PATH: process.env.PATH ?? '', ...variables })

  async function homeOf(
    config: Partial<RunnerConfig>,
    prepare?: (folder: string) => Promise<void>,
  ): Promise<{ readonly home: unknown; readonly folder: string }> {
    const bot = await PythonRunner.start(BOT, config, prepare)
    try {
      const { home, prefix } = await told(bot.runner.url)
      expect(prefix).toBe(home)
      return { home, folder: await realpath(bot.folder) }
    } finally {
      await bot.close()
    }
  }

  const withOwn = async (botFolder: string) => void (await makeEnvironment(join(botFolder, '.venv')))

  it.concurrent.each(['fork', 'spawn'] as const)(
    'is the .venv beside it, also when another is active (%s)',
    async (start) => {
      const found = await homeOf({ python: { start }, env: env({ VIRTUAL_ENV: other }) }, withOwn)
      expect(found.home).toBe(join(found.folder, '.venv'))
    },
  )

  it.concurrent('is the active one when it has none', async () => {
    expect((await homeOf({ env: env({ VIRTUAL_ENV: other }) })).home).toBe(other)
  })

  it.concurrent('is the one that was asked for', async () => {
    const python = { start: 'fork', path: join(other, 'bin/python') } as const
    expect((await homeOf({ python, env: env() }, withOwn)).home).toBe(other)
  })

  it.concurrent('is the .venv of its project, when it is in a folder of it', async () => {
    const project = join(folder, 'project')
    await mkdir(join(project, 'bots'), { recursive: true })
    await writeFile(join(project, 'pyproject.toml'), '[project]\nname = "some"\nversion = "1"\n')
    await writeFile(join(project, 'bots/bot.py'), BOT)
    await makeEnvironment(join(project, '.venv'))
    const runner = new StartedRunner(join(project, 'bots'))
    try {
      expect((await told(await runner.url())).home).toBe(join(await realpath(project), '.venv'))
    } finally {
      runner.interrupt()
      expect(await runner.exitCode()).toBe(0)
    }
  })
})

describe('the variables of a Python bot', () => {
  it.concurrent.each(['fork', 'spawn'])(
    'are ENV=local, those of .env, and above all the real ones (%s)',
    async (way) => {
      const folder = await realpath(await mkdtemp(join(tmpdir(), 'botcli-env-')))
      await writeFile(join(folder, 'bot.py'), BOT)
      await writeFile(join(folder, 'only_here.py'), 'HOME = "beside the bot"\n')
      await writeFile(
        join(folder, '.env'),
        `FROM_FILE=file\nFROM_BOTH=file\nWITH_SIGNS="grüße # 👋"\nENV=production\n`,
      )
      const runner = new StartedRunner(folder, ['--port', '0', '--python-start', way], { FROM_BOTH: 'real' })
      try {
        expect(await told(await runner.url())).toMatchObject({
          ENV: 'local',
          FROM_FILE: 'file',
          FROM_BOTH: 'real',
          WITH_SIGNS: 'grüße # 👋',
          cwd: folder,
          home: 'beside the bot',
        })
        await until(() => runner.lines.some((line) => line.includes('session over')), 'the end of the call')
      } finally {
        runner.interrupt()
        expect(await runner.exitCode()).toBe(0)
        await rm(folder, { recursive: true, force: true })
      }
    },
  )
})
