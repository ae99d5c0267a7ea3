import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findInterpreter } from './interpreter.ts'

let root: string
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'botcli-python-')))
})
afterEach(() => rm(root, { recursive: true, force: true }))

/** A program that answers as a Python of this version does. */
async function python(path: string, version: readonly number[] = [3, 12, 1], found = false): Promise<string> {
  const answer = JSON.stringify({ version, path: join(root, path), found })
  return program(path, `echo '${answer}'`)
}

async function program(name: string, line: string): Promise<string> {
  const path = join(root, name)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, `#!/bin/sh\n${line}\n`)
  await chmod(path, 0o755)
  return path
}

const find = (folder: string, env: Record<string, string> = {}, given?: string) =>
  findInterpreter({ folder: join(root, folder), env: { PATH: '/bin:/usr/bin', ...env }, given })

describe("the bot's Python", () => {
  it('is the real one on the path, and our package is not in it', async () => {
    const { path } = await findInterpreter({ folder: root, env: { PATH: process.env.PATH ?? '' } })
    expect(path).toMatch(/^\/.*python/)
  })

  it('is that of the .venv beside the bot, before all others', async () => {
    const own = await python('project/.venv/bin/python')
    const active = await python('active/bin/python')
    expect((await find('project', { VIRTUAL_ENV: dirname(dirname(active)) })).path).toBe(own)
  })

  it.each(['pyproject.toml', 'uv.lock'])('is that of the project whose %s lies further up', async (mark) => {
    const outer = await python('project/.venv/bin/python')
    await mkdir(join(root, 'project/src/server'), { recursive: true })
    await writeFile(join(root, 'project', mark), '')
    expect((await find('project/src/server')).path).toBe(outer)
  })

  it('is not that of a folder beyond the project', async () => {
    await python('.venv/bin/python')
    await mkdir(join(root, 'project'))
    await writeFile(join(root, 'project/pyproject.toml'), '')
    const active = await python('active/bin/python')
    expect((await find('project', { VIRTUAL_ENV: join(root, 'active') })).path).toBe(active)
  })

  it('is that of the uv workspace that the project is a member of', async () => {
    const outer = await python('space/.venv/bin/python')
    await mkdir(join(root, 'space/members/one'), { recursive: true })
    await writeFile(join(root, 'space/pyproject.toml'), '[tool.uv.workspace]\nmembers = ["members/*"]\n')
    await writeFile(join(root, 'space/members/one/pyproject.toml'), '')
    expect((await find('space/members/one')).path).toBe(outer)
  })

  it('is the one that uv is told to use', async () => {
    const other = await python('project/other/bin/python')
    await writeFile(join(root, 'project/pyproject.toml'), '')
    expect((await find('project', { UV_PROJECT_ENVIRONMENT: 'other' })).path).toBe(other)
  })

  it('is not passed over when it is broken', async () => {
    await mkdir(join(root, 'project/.venv/bin'), { recursive: true })
    await symlink('/nowhere/python3', join(root, 'project/.venv/bin/python'))
    await expect(find('project')).rejects.toThrow(/\.venv\/bin\/python was not found/)
  })

  it('is the given one, whatever else there is', async () => {
    await python('project/.venv/bin/python')
    const given = await python('given/python')
    expect((await find('project', {}, given)).path).toBe(given)
    expect((await find('project', { PATH: join(root, 'given') }, 'python')).path).toBe(given)
  })

  it('is python when there is no python3, or it is too old', async () => {
    await python('programs/python3', [3, 9, 2])
    const other = await python('programs/python', [3, 11, 0])
    expect((await find('.', { PATH: `${join(root, 'programs')}:/bin` })).path).toBe(other)
  })

  it('tells whether the project has our package', async () => {
    const given = await python('with/python', [3, 13, 0], true)
    expect(await find('.', {}, given)).toEqual({ path: given, hasPackage: true })
  })

  it.each([
    ['is too old', '.venv is version 3.10.4', () => python('.venv/bin/python', [3, 10, 4])],
    ['is not there', 'nowhere was not found', undefined],
    [
      'does not run',
      'could not be run (no such library)',
      () => program('p', 'echo no such library >&2; exit 3'),
    ],
    ['says nothing', 'did not say its version', () => program('p', 'exit 0')],
  ])('is refused with what was found and what to do when it %s', async (_, words, make) => {
    const given = (await make?.()) ?? join(root, 'nowhere')
    const shown = words.replace('.venv', given).replace('nowhere', given)
    await expect(find('.', {}, given)).rejects.toMatchObject({
      code: 'start_failed',
      message: expect.stringMatching(/needs Python 3\.11 or newer.*--python PATH/),
    })
    await expect(find('.', {}, given)).rejects.toThrow(shown)
  })
})
