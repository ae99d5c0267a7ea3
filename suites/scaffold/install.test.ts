import { execFile } from 'node:child_process'
import { copyFile, cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { findPythonWheel } from '@botcli/runner'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Configuration } from '../../packages/scaffold/src/configuration.ts'
import { envVariables } from '../../packages/scaffold/src/server/index.ts'
import { configured } from '../../packages/scaffold/src/testing/server-matrix.ts'
import { Installers } from '../wheel/installers.ts'
import { generate } from './generated.ts'

const run = promisify(execFile)
const LIMIT_MS = 300_000

/** Sets of extras that have little in common. */
const PROJECTS: readonly (readonly [string, Partial<Configuration>, readonly string[]])[] = [
  ['the quickstart', { transports: ['webrtc', 'room'], llm: 'openai_responses_llm' }, ['bot']],
  [
    'everything at once',
    {
      stt: 'elevenlabs_stt',
      llm: 'anthropic_llm',
      tts: 'rime_tts',
      video: 'simli_video',
      videoInput: true,
      videoOutput: true,
      recording: true,
      noiseFilter: true,
      observability: true,
      evals: true,
    },
    ['bot'],
  ],
  [
    'a phone bot of one service',
    {
      mode: 'realtime',
      realtime: 'gemini_live_realtime',
      botType: 'telephony',
      transports: ['telephony_a_room_sip'],
      sipMode: 'dial-in',
      evals: true,
    },
    ['bot', 'server'],
  ],
]

const found = await Installers.open()
if ('skipped' in found) {
  process.stdout.write(`suite scaffold: installing skipped: ${found.skipped}\n`)
  it.skip(`generated projects (${found.skipped})`)
} else describe('generated projects', () => installed(found))

function installed(installers: Installers): void {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'botcli-install-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))
  afterAll(() => installers.close())

  it.each(PROJECTS)(
    'install as their image does, and load: %s',
    async (_, changes, modules) => {
      const configuration = configured({ ...changes, deployToCloud: true })
      const server = await generate(folder, configuration)
      const image = join(folder, 'image')
      await mkdir(join(image, 'wheels'), { recursive: true })
      await copyFile(findPythonWheel(), join(image, 'wheels', basename(findPythonWheel())))
      await copyFile(join(server, 'pyproject.toml'), join(image, 'pyproject.toml'))
      const [, command = ''] = /uv (sync .*)$/m.exec(await readFile(join(server, 'Dockerfile'), 'utf8')) ?? []
      const args = command.split(' ').filter((word) => word !== '--no-cache' && word !== '--compile-bytecode')
      expect(args).toEqual(['sync', '--no-dev'])
      await installers.uv(args, image)
      // The lock file has all groups, those for evals included, so that all of them can be installed.
      const lock = await readFile(join(image, 'uv.lock'), 'utf8')
      expect(lock.includes('name = "kokoro-onnx"')).toBe(configuration.evals)
      await cp(server, image, { recursive: true })
      const python = join(image, '.venv/bin/python')
      const keys = envVariables(configuration).map(({ name, required }) => [name, required ? 'test' : ''])
      const env = { PATH: process.env.PATH, ...Object.fromEntries(keys) }
      for (const name of modules) await run(python, ['-c', `import ${name}`], { cwd: image, env })
      const { stderr } = await run(python, ['-m', 'unittest', 'discover', '-s', 'tests'], { cwd: image })
      expect(stderr).toContain('Ran 2 tests')
      await installers.uv(['sync', '--no-dev', '--locked'], image)
    },
    LIMIT_MS,
  )
}
