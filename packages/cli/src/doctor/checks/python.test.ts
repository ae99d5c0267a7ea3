import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { botcliVersion } from '@botcli/scaffold'
import { describe, expect, it } from 'vitest'
import {
  freshFolder,
  makeProject,
  put,
  putProgram,
  putPython,
  subjectOf,
  WEB_BOT,
} from '../../testing/doctor-project.ts'
import { checkEnvironment, checkPython } from './python.ts'
import { checkUv } from './tools.ts'

const INSTALLED = { pipecat: '1.14.0', botcli: botcliVersion() }
const PATH = '/bin:/usr/bin'

/** A machine whose programs are in a folder. */
async function machine(programs: Readonly<Record<string, string>>): Promise<{ env: { PATH: string } }> {
  const folder = await freshFolder()
  for (const [name, line] of Object.entries(programs)) await putProgram(folder, name, line)
  // `cat` and the like are needed by what we put there, and a Python of this machine is not.
  for (const name of ['cat', 'sh']) await symlink(`/bin/${name}`, join(folder, name))
  return { env: { PATH: folder } }
}

const UV = { uv: 'echo "uv 0.9.5 (abc 2025-01-01)"' }

const PYTHON = { python3: 'echo Python 3.11.9' }
/** Needs Python 3.12. */
const NOVA = { transports: ['webrtc'], mode: 'realtime', realtime: 'aws_nova_realtime' } as const
const INSTALL_UV = 'curl -LsSf https://astral.sh/uv/install.sh | sh'

describe('an environment', () => {
  it('is well with everything in it', async () => {
    const { folder } = await makeProject()
    await putPython(folder, 'server/.venv/bin/python', '3.12.4', INSTALLED)
    const subject = await subjectOf(folder, { env: { PATH } })
    expect(await checkPython(subject)).toEqual({ status: 'ok', message: '3.12.4 (server/.venv/bin/python)' })
    expect(await checkEnvironment(subject)).toEqual({
      status: 'ok',
      message: `server/.venv has pipecat-ai 1.14.0 and botcli ${botcliVersion()}`,
    })
  })

  it.each([
    [UV, {}, '(cd server && uv sync)'],
    [UV, { evals: true }, '(cd server && uv sync --group evals)'],
    [PYTHON, {}, '(cd server && python3 -m venv .venv && .venv/bin/python -m pip install .)'],
    [
      PYTHON,
      { evals: true },
      '(cd server && python3 -m venv .venv && .venv/bin/python -m pip install . "pipecat-ai[evals,runner,websocket]")',
    ],
    [
      { ...PYTHON, 'python3.12': 'echo Python 3.12.4' },
      NOVA,
      '(cd server && python3.12 -m venv .venv && .venv/bin/python -m pip install .)',
    ],
  ])('that is missing is made with what there is: %j %j', async (programs, flags, fix) => {
    const { folder } = await makeProject('mode' in flags ? flags : { ...WEB_BOT, ...flags })
    const subject = await subjectOf(folder, await machine(programs))
    expect(await checkEnvironment(subject)).toEqual({
      status: 'fault',
      message: 'there is no server/.venv',
      fix,
    })
  })

  it('cannot be made without uv and with a Python that is too old', async () => {
    const { folder } = await makeProject(NOVA)
    const programs = await machine({})
    await putPython(programs.env.PATH, 'python3', '3.11.9')
    const subject = await subjectOf(folder, programs)
    expect(await checkEnvironment(subject)).toEqual({
      status: 'fault',
      message: 'there is no server/.venv, and making it takes uv or Python 3.12 or newer',
      fix: INSTALL_UV,
    })
    expect(await checkPython(subject)).toEqual({
      status: 'fault',
      message: '3.12 or newer is needed, but python3 is version 3.11.9',
      fix: INSTALL_UV,
    })
    await putProgram(programs.env.PATH, 'python3.12', 'echo Python 3.12.4')
    expect(await checkPython(await subjectOf(folder, programs))).toEqual({
      status: 'ok',
      message: '3.12.4 (python3.12), for the environment (python3 is version 3.11.9)',
    })
  })

  it.each([
    [UV, '(cd server && uv sync --group evals --python 3.12)'],
    [
      { 'python3.12': 'echo Python 3.12.4' },
      '(cd server && python3.12 -m venv --clear .venv && .venv/bin/python -m pip install . "pipecat-ai[evals,runner,websocket]")',
    ],
    [PYTHON, INSTALL_UV],
  ])('of a Python that is too old is made anew: %j', async (programs, fix) => {
    const { folder } = await makeProject({ ...NOVA, evals: true })
    await putPython(folder, 'server/.venv/bin/python', '3.11.9')
    const subject = await subjectOf(folder, await machine(programs))
    expect(await checkPython(subject)).toMatchObject({ status: 'fault', fix })
    expect(await checkEnvironment(subject)).toMatchObject({ status: 'fault', fix })
  })

  it('of a bot without a project has what the bot imports', async () => {
    const folder = await freshFolder()
    await put(folder, 'bot.py', 'async def bot(args):\n    pass\n')
    const programs = await machine({ 'python3.12': 'echo Python 3.12.4' })
    expect(await checkPython(await subjectOf(folder, programs))).toMatchObject({
      status: 'fault',
      fix: 'python3.12 -m venv .venv',
    })
    const withUv = await machine(UV)
    expect(await checkPython(await subjectOf(folder, withUv))).toMatchObject({ fix: 'uv venv --python 3.11' })
    await put(folder, 'bot.py', 'import pipecat\nasync def bot(args):\n    pass\n')
    expect(await checkEnvironment(await subjectOf(folder, withUv))).toMatchObject({
      fix: 'uv venv --python 3.11 && uv pip install pipecat-ai',
    })
  })

  it('is told of from where the user is', async () => {
    const { folder } = await makeProject()
    const subject = await subjectOf(folder, { cwd: join(folder, 'server'), ...(await machine(UV)) })
    expect(await checkEnvironment(subject)).toMatchObject({ fix: 'uv sync' })
  })

  it.each([
    ['fault', 'server/.venv cannot import pipecat (ModuleNotFoundError', { botcli: botcliVersion() }],
    [
      'fault',
      'server/.venv has pipecat-ai 1.9.9; 1.14.0 or newer is needed',
      { ...INSTALLED, pipecat: '1.9.9' },
    ],
    ['warning', 'cannot import botcli', { pipecat: '1.14.0' }],
    ['warning', `and botcli 0.0.1; this is ${botcliVersion()}`, { ...INSTALLED, botcli: '0.0.1' }],
  ])('with something wrong in it is a %s: %s', async (status, words, packages) => {
    const { folder } = await makeProject()
    await putPython(folder, 'server/.venv/bin/python', '3.12.4', packages)
    const found = await checkEnvironment(await subjectOf(folder, { env: { PATH } }))
    expect(found).toMatchObject({ status, message: expect.stringContaining(words) })
    expect(found?.fix).toBe(
      '(cd server && .venv/bin/python -m ensurepip && .venv/bin/python -m pip install .)',
    )
  })

  it('whose Python is gone is broken', async () => {
    const { folder } = await makeProject()
    await mkdir(join(folder, 'server/.venv/bin'), { recursive: true })
    await symlink('/nowhere/python3', join(folder, 'server/.venv/bin/python'))
    const subject = await subjectOf(folder)
    expect(await checkEnvironment(subject)).toMatchObject({
      status: 'fault',
      message:
        'server/.venv is broken: its Python is not there, and making it takes uv or Python 3.11 or newer',
      fix: INSTALL_UV,
    })
    expect((await checkPython(subject))?.status).toBe('fault')
  })

  it('is asked for real: modules that break are told of, and nothing is left behind', async () => {
    const { folder } = await makeProject()
    await put(folder, 'server/pipecat/__init__.py', 'from pipecat import half')
    const before = await readdir(folder, { recursive: true })
    const subject = await subjectOf(folder, { env: { PATH: process.env.PATH } })
    expect((await subject.python()).found?.version).toMatch(/^3\.\d+\.\d+$/)
    expect(await checkEnvironment(subject)).toMatchObject({
      status: 'fault',
      message: expect.stringMatching(/^python3? cannot import pipecat \(ImportError: cannot import name/),
    })
    expect(await readdir(folder, { recursive: true })).toEqual(before)
  })

  it('is not asked for by a bot that imports no pipeline', async () => {
    const folder = await freshFolder()
    await put(folder, 'bot.py', 'async def bot(args):\n    pass\n')
    const subject = await subjectOf(folder, await machine({}))
    expect(await checkEnvironment(subject)).toBeUndefined()
    await writeFile(join(folder, 'bot.py'), 'import pipecat\nasync def bot(args):\n    pass\n')
    expect((await checkEnvironment(subject))?.status).toBe('fault')
  })
})

describe('Python', () => {
  it('can be fetched by uv', async () => {
    const { folder } = await makeProject()
    const subject = await subjectOf(folder, await machine(UV))
    expect(await checkPython(subject)).toEqual({
      status: 'ok',
      message: 'uv will fetch one of 3.11 or newer (python3 is not there, python is not there)',
    })
    expect(await checkUv(subject)).toEqual({ status: 'ok', message: '0.9.5' })
  })

  it('is needed when there is no uv either', async () => {
    const { folder } = await makeProject()
    const subject = await subjectOf(folder, await machine({}))
    expect(await checkPython(subject)).toMatchObject({ status: 'fault', fix: expect.stringContaining('uv') })
    expect(await checkUv(subject)).toMatchObject({ status: 'warning', message: 'uv is not installed' })
  })

  it('may be too old for this very project', async () => {
    const { folder } = await makeProject()
    await putPython(folder, 'server/.venv/bin/python', '3.11.9', INSTALLED)
    const file = join(folder, 'server/pyproject.toml')
    const subject = await subjectOf(folder, { env: { PATH } })
    expect((await checkPython(subject))?.status).toBe('ok')
    await writeFile(
      file,
      (await readFile(file, 'utf8')).replace(/requires-python = ".*"/, 'requires-python = ">=3.12"'),
    )
    expect(await checkPython(subject)).toMatchObject({
      status: 'fault',
      message: '3.12 or newer is needed, but server/.venv/bin/python is version 3.11.9',
    })
  })

  it('on the path is the first that is new enough', async () => {
    const { folder } = await makeProject()
    const programs = await machine({})
    await putPython(programs.env.PATH, 'python3', '3.9.2')
    await putPython(programs.env.PATH, 'python', '3.13.0')
    expect(await checkPython(await subjectOf(folder, programs))).toEqual({
      status: 'ok',
      message: '3.13.0 (python)',
    })
    await rm(join(programs.env.PATH, 'python'))
    expect(await checkPython(await subjectOf(folder, programs))).toMatchObject({
      status: 'fault',
      message: '3.11 or newer is needed, but python3 is version 3.9.2, python is not there',
    })
  })
})
