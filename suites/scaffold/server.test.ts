import { execFile, execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { RunnerFixture, testConfig } from '../../packages/runner/src/testing/runner-fixture.ts'
import type { Configuration } from '../../packages/scaffold/src/configuration.ts'
import { serverFiles } from '../../packages/scaffold/src/server/index.ts'
import { projectVariables } from '../../packages/scaffold/src/server/variables.ts'
import { SERVICES } from '../../packages/scaffold/src/services/index.ts'
import { allCases, configured, serviceCases } from '../../packages/scaffold/src/testing/server-matrix.ts'
import { withPipecat } from '../pipecat/with-pipecat.ts'
import { generate } from './generated.ts'
import { asModel, echo, HttpDouble } from './http-double.ts'

const run = promisify(execFile)
const PYTHON_PACKAGE = join(import.meta.dirname, '../../python/src')
const BOTCLI_BIN = join(import.meta.dirname, '../../packages/cli/bin/botcli.js')
const PYRIGHT = 'pyright@1.1.414'
/** Their libraries cannot be replaced by stand-ins, or fetch something when they are made. */
const NOT_MADE = new Set([
  'gemini_live_realtime',
  'gemini_vertex_live_realtime',
  'kokoro_tts',
  'moonshine_stt',
  'speechmatics_stt',
  'whisper_stt',
])

/** The service itself is to go, which its users have to know; and a class that the library still uses itself. */
const KNOWN_AS_OLD = /^`(XTTSService|AudioContextTTSService)\b/
/** What no single service brings along. */
const EVERYTHING = {
  transports: ['room', 'webrtc', 'websocket'],
  videoInput: true,
  videoOutput: true,
  recording: true,
  transcription: true,
  observability: true,
  evals: true,
} as const

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'botcli-scaffold-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

withPipecat('generated servers', (python) => {
  it('are formatted and clean for the linter', async () => {
    for (const { name, configuration } of allCases()) await generate(join(folder, name), configuration)
    const ruff = join(dirname(python), 'ruff')
    const { stdout } = await run(ruff, ['format', '--no-cache', '--check', folder], { maxBuffer: 1e8 })
    expect(stdout).toMatch(/already formatted/)
    await expect(run(ruff, ['check', '--no-cache', folder], { maxBuffer: 1e8 })).resolves.toBeDefined()
  })

  it('have the types that the library has', async ({ skip }) => {
    const reachable = await run('npm', ['view', PYRIGHT, 'version'], { timeout: 30_000 }).catch(
      () => undefined,
    )
    if (reachable === undefined) skip('the npm registry cannot be reached')
    const seen = new Set<string>()
    for (const { name, configuration } of allCases()) {
      // Cloud files are not for the type checker, and carriers differ by a name only.
      const { evals, deployToCloud, ...rest } = configuration
      const key = JSON.stringify(rest).replace(/telephony_[bcd]/g, 'telephony_a')
      if (name.endsWith('-phone') || seen.has(key)) continue
      seen.add(key)
      await generate(join(folder, name), { ...rest, evals: true, deployToCloud: false })
    }
    const settings = {
      typeCheckingMode: 'basic',
      include: ['.'],
      exclude: ['**/tests'],
      extraPaths: [PYTHON_PACKAGE],
    }
    await writeFile(join(folder, 'pyrightconfig.json'), JSON.stringify(settings))
    const args = ['--yes', PYRIGHT, '--outputjson', '--pythonpath', python, '-p', folder]
    const { stdout } = await run('npx', args, { maxBuffer: 1e8, timeout: 400_000 }).catch((error) => error)
    const { generalDiagnostics, summary } = JSON.parse(stdout)
    expect(generalDiagnostics).toEqual([])
    expect(summary.filesAnalyzed).toBeGreaterThan(2 * seen.size - 1)
  }, 420_000)

  it('make every service with keys only, the library filling in the rest', async () => {
    const cases = await Promise.all(
      [...serviceCases(), { name: 'everything', configuration: configured(EVERYTHING) }]
        .filter(({ name }) => !name.endsWith('-phone'))
        .map(async ({ name, configuration }) => ({
          name,
          folder: await generate(join(folder, name), configuration),
          variables: Object.fromEntries(
            projectVariables(configuration).map(({ name, required }) => [name, required]),
          ),
        })),
    )
    const made: readonly Made[] = JSON.parse(
      execFileSync(python, [join(import.meta.dirname, 'construct.py')], {
        input: JSON.stringify(cases),
        env: { PATH: process.env.PATH, PYTHONPATH: PYTHON_PACKAGE },
        stdio: ['pipe', 'pipe', 'ignore'],
        maxBuffer: 1e8,
      }).toString(),
    )
    expect(made.map(({ name }) => name)).toEqual([...SERVICES.map(({ id }) => id), 'everything'])
    expect(made.filter(({ name, error }) => error !== undefined && !NOT_MADE.has(name))).toEqual([])
    const deprecated = made.flatMap((one) => one.deprecated.filter((text) => !KNOWN_AS_OLD.test(text)))
    expect(deprecated).toEqual([])
    for (const { id, category, defaults } of PEER) {
      const found = made.find(({ name }) => name === id || name === `${id}_realtime`)
      const settings = found?.settings[category === 'realtime' ? 'llm' : category]
      if (found?.error !== undefined || settings === undefined) continue
      expect([id, settings]).toEqual([id, expect.objectContaining(defaults)])
    }
  })

  it('name no part of the library that it does not have', async () => {
    const ask = "import importlib.metadata as m; print(*m.metadata('pipecat-ai').get_all('Provides-Extra'))"
    const known = new Set((await run(python, ['-c', ask])).stdout.trim().split(' '))
    const named = allCases().flatMap(({ configuration }) => {
      const text =
        serverFiles(configuration).find(({ path }) => path === 'server/pyproject.toml')?.content ?? ''
      return [...text.matchAll(/pipecat-ai\[(.*?)\]/g)].flatMap(([, extras = '']) => extras.split(','))
    })
    expect([...new Set(named)].filter((extra) => !known.has(extra))).toEqual([])
    expect(new Set(named).size).toBeGreaterThan(60)
  })

  it('load in their own smoke test, and name all missing keys', async () => {
    const server = await generate(
      folder,
      configured({ stt: 'openai_stt', tts: 'openai_tts', evals: true, recording: true }),
    )
    const { stderr } = await run(python, ['-m', 'unittest', 'discover', '-s', 'tests'], {
      cwd: server,
      env: { PATH: process.env.PATH, PYTHONPATH: PYTHON_PACKAGE },
    })
    expect(stderr).toContain('Ran 2 tests')
  })

  it('tell in one message which keys are missing, however they are started', async () => {
    const server = await generate(folder, configured({ stt: 'openai_stt', tts: 'openai_tts' }))
    const bot = join(server, 'bot.py')
    const env = { PATH: process.env.PATH, PYTHONPATH: PYTHON_PACKAGE, BOTCLI_BIN, NO_COLOR: '1' }
    for (const start of [
      [python, bot, '--port', '0'],
      [BOTCLI_BIN, 'run', bot, '--python', python, '--port', '0'],
    ]) {
      const [program = '', ...args] = start
      const failed = await run(program, args, { env }).catch((error) => error)
      expect(failed.code).toBe(1)
      expect(failed.stderr).not.toContain('Traceback')
      expect(failed.stderr.match(/OPENAI_API_KEY/g)).toHaveLength(1)
      expect(failed.stderr).toMatch(/not set: OPENAI_API_KEY\. They belong into \.env/)
      // The same text is right when that file is there and has nothing in it.
      await writeFile(join(server, '.env'), readFileSync(join(server, '.env.example')))
    }
  })

  it('fail their first eval when they greet without a word', async () => {
    const model = await HttpDouble.start(
      asModel(({ messages }) => ({ content: messages.some(({ role }) => role === 'user') ? 'banana' : '' })),
    )
    const server = await generate(folder, configured({ stt: 'openai_stt', tts: 'openai_tts', evals: true }))
    const scenario = join(server, 'evals/starter_text.yaml')
    await writeFile(
      scenario,
      readFileSync(scenario, 'utf8').replaceAll('within_ms: 30000', 'within_ms: 5000'),
    )
    await writeFile(join(server, '.env'), `OPENAI_API_KEY=test\nOPENAI_BASE_URL=${model.url}\n`)
    const bot = join(server, 'bot.py')
    const runner = await RunnerFixture.start(bot, {
      python: { path: python, start: 'fork' },
      env: { ...testConfig(bot).env },
    })
    try {
      const url = `${runner.url.replace('http', 'ws')}/ws`
      const args = ['eval', 'run', scenario, '--bot-url', url, '--logs-dir', folder]
      const { stdout } = await run(join(dirname(python), 'pipecat'), args, {
        cwd: folder,
        env: { ...process.env, NO_COLOR: '1', COLUMNS: '200' },
      }).catch((error) => error)
      expect(stdout).toContain('0/1 passed')
    } finally {
      await runner.close()
      await model.close()
    }
  })

  it.each([
    ['by our wires', {}],
    ["by the library's own, because of video", { videoInput: true, videoOutput: true }],
    ['in rooms', { transports: ['room'] }],
    ['in rooms and by our wires', { transports: ['room', 'webrtc'] }],
    ['for phones', { botType: 'telephony', transports: ['telephony_a'] }],
    [
      'as bots that wait for whom they call',
      { botType: 'telephony', transports: ['room_pstn'], pstnMode: 'dial-out' },
    ],
    [
      'as bots that callers come to by rooms',
      { botType: 'telephony', transports: ['room_pstn'], pstnMode: 'dial-in' },
    ],
  ] satisfies readonly (readonly [string, Partial<Configuration>])[])(
    'talk on our runner %s, and pass their own first eval with blank variables',
    async (_, changes) => {
      const model = await HttpDouble.start(echo)
      const features = { evals: true, transcription: true, recording: true } as const
      const configuration = configured({ stt: 'openai_stt', tts: 'openai_tts', ...features, ...changes })
      const server = await generate(folder, configuration)
      const env = readFileSync(join(server, '.env.example'), 'utf8')
        .replace(/^# ([A-Z_]+)=.*$/gm, '$1=')
        .replace('OPENAI_API_KEY=', 'OPENAI_API_KEY=test')
        .replace('ROOM_API_KEY=', 'ROOM_API_KEY=test')
      await writeFile(join(server, '.env'), `${env}OPENAI_BASE_URL=${model.url}\n`)
      const bot = join(server, 'bot.py')
      const runner = await RunnerFixture.start(bot, {
        python: { path: python, start: 'fork' },
        env: {
          ...testConfig(bot).env,
          ROOM_API_KEY: 'test',
          PYTHONPATH: join(import.meta.dirname, 'stand-ins'),
        },
      })
      try {
        const url = `${runner.url.replace('http', 'ws')}/ws`
        const args = [
          'eval',
          'run',
          join(server, 'evals/starter_text.yaml'),
          '--bot-url',
          url,
          '--logs-dir',
          folder,
        ]
        const { stdout } = await run(join(dirname(python), 'pipecat'), args, {
          cwd: folder,
          env: { ...process.env, NO_COLOR: '1', COLUMNS: '200' },
        })
        expect(stdout).toContain('1/1 passed')
        const asked = model.seen.filter(({ path }) => path === '/chat/completions')
        const models = asked.map(({ body }) => (body as { model: string }).model)
        expect(new Set(models)).toEqual(new Set(['gpt-4.1']))
      } finally {
        await runner.close()
        await model.close()
      }
    },
  )
})

interface Made {
  readonly name: string
  readonly error?: string
  readonly settings: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly deprecated: readonly string[]
}

const PEER: readonly { id: string; category: string; defaults: Readonly<Record<string, string>> }[] =
  JSON.parse(
    readFileSync(join(import.meta.dirname, '../../packages/scaffold/src/testing/services-1.14.json'), 'utf8'),
  )
