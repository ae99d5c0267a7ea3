import { execFile } from 'node:child_process'
import { readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { botcliVersion } from '@botcli/scaffold'
import { describe, expect, it } from 'vitest'
import {
  freshFolder,
  makeProject,
  put,
  putProgram,
  replaceIn,
  subjectOf,
  WEB_BOT,
} from '../../testing/doctor-project.ts'
import { checkWheel } from './wheel.ts'

const run = promisify(execFile)
const VERSION = botcliVersion()
const WHEEL = `server/wheels/botcli-${VERSION}-py3-none-any.whl`

describe('the wheel', () => {
  it('is there, of this version', async () => {
    const { folder } = await makeProject()
    expect(await checkWheel(await subjectOf(folder))).toEqual({ status: 'ok', message: WHEEL })
  })

  it('that is missing is brought back by the command that is told', async () => {
    const { folder } = await makeProject()
    await rm(join(folder, 'server/wheels'), { recursive: true })
    const found = await checkWheel(await subjectOf(folder))
    expect(found).toMatchObject({ status: 'fault', message: expect.stringContaining(WHEEL) })
    await run('sh', ['-c', found?.fix ?? ''], { cwd: folder })
    expect((await stat(join(folder, WHEEL))).size).toBeGreaterThan(1000)
    expect(await checkWheel(await subjectOf(folder))).toMatchObject({ status: 'ok' })
  })

  it.each([
    ['uv', 'echo "uv 0.9.5"', {}, 'sync'],
    ['uv', 'echo "uv 0.9.5"', { evals: true }, 'sync --group evals'],
    ['python3', 'echo "Python 3.12.4"', {}, '-m venv .venv'],
    ['python3', 'echo "Python 3.12.4"', { evals: true }, '-m venv .venv'],
  ])(
    'of another version is renewed with %s by the command that is told, wherever the version stands',
    async (name, line, flags, installed) => {
      const { folder } = await makeProject({ ...WEB_BOT, deployToCloud: true, ...flags })
      const project = join(folder, 'server/pyproject.toml')
      const container = join(folder, 'server/Dockerfile')
      const fresh = await Promise.all([project, container].map((file) => readFile(file, 'utf8')))
      await replaceIn(project, `botcli-${VERSION}-`, 'botcli-0.0.9-')
      await replaceIn(container, `botcli@${VERSION}`, 'botcli@0.0.9')
      expect(await checkWheel(await subjectOf(folder))).toMatchObject({ status: 'fault' })
      await put(folder, 'server/wheels/botcli-0.0.9-py3-none-any.whl', 'old')
      const programs = await freshFolder()
      // It says its version, refuses to be looked into, and writes down what else it is told.
      const answers = `case "$1" in --version) ${line};; -B) exit 1;; *) echo "$@" >> installed;; esac`
      const makes = '[ "$2" != venv ] || { mkdir -p .venv/bin && cp "$0" .venv/bin/python; }'
      await putProgram(programs, name, `${answers}; ${makes}`)
      const found = await checkWheel(await subjectOf(folder, { env: { PATH: programs } }))
      expect(found?.status).toBe('warning')
      const env = { PATH: `${programs}:${process.env.PATH}` }
      await run('sh', ['-c', found?.fix ?? ''], { cwd: folder, env })
      expect(await Promise.all([project, container].map((file) => readFile(file, 'utf8')))).toEqual(fresh)
      const tools = 'evals' in flags ? ' pipecat-ai[evals,runner,websocket]' : ''
      const lines = name === 'uv' ? [installed] : [installed, `-m pip install .${tools}`]
      expect(await readFile(join(folder, 'server/installed'), 'utf8')).toBe(`${lines.join('\n')}\n`)
      expect(await checkWheel(await subjectOf(folder))).toMatchObject({ status: 'ok' })
      await expect(stat(`${project}.old`)).rejects.toThrow('ENOENT')
    },
  )

  it('is renewed without being installed where nothing can install it', async () => {
    const { folder } = await makeProject()
    await replaceIn(join(folder, 'server/pyproject.toml'), `botcli-${VERSION}-`, 'botcli-0.0.9-')
    const found = await checkWheel(await subjectOf(folder))
    expect(found?.fix).not.toMatch(/uv|pip/)
    await run('sh', ['-c', found?.fix ?? ''], { cwd: folder })
    expect(await checkWheel(await subjectOf(folder))).toMatchObject({ status: 'ok' })
  })

  it.each(['wheels/', '*.whl', '/server/wheels/*'])(
    'that git ignores is at fault, until it is added: %s',
    async (rule) => {
      const { folder } = await makeProject()
      const git = (...args: string[]) => run('git', args, { cwd: folder })
      const env = { PATH: process.env.PATH, HOME: '/nowhere' }
      await git('init', '-q')
      expect(await checkWheel(await subjectOf(folder, { env }))).toMatchObject({ status: 'ok' })
      await put(folder, '.gitignore', `${rule}\n`)
      const found = await checkWheel(await subjectOf(folder, { env }))
      expect(found).toEqual({
        status: 'fault',
        message: `git ignores ${WHEEL}, so that nothing can be installed from a clone`,
        fix: `git add --force ${WHEEL}`,
      })
      await run('sh', ['-c', found?.fix ?? ''], { cwd: folder })
      expect(await checkWheel(await subjectOf(folder, { env }))).toMatchObject({ status: 'ok' })
      expect((await git('ls-files')).stdout).toBe(`${WHEEL}\n`)
    },
  )

  it('is no fault in a project that git ignores as a whole', async () => {
    const { folder } = await makeProject()
    await run('git', ['init', '-q'], { cwd: folder })
    await put(folder, '.gitignore', '*\n')
    const env = { PATH: process.env.PATH, HOME: '/nowhere' }
    expect(await checkWheel(await subjectOf(folder, { env }))).toMatchObject({ status: 'ok' })
  })

  it('is not in a project that installs our package otherwise', async () => {
    const folder = await freshFolder()
    await put(folder, 'bot.py', 'async def bot(args):\n    pass\n')
    expect(await checkWheel(await subjectOf(folder))).toBeUndefined()
    await put(folder, 'pyproject.toml', '[project]\nname = "x"\ndependencies = ["botcli"]\n')
    expect(await checkWheel(await subjectOf(folder))).toBeUndefined()
  })
})
