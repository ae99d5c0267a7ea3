import { execFile } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { botcliVersion, planGuides } from '@botcli/scaffold'
import { describe, expect, it } from 'vitest'
import {
  freshFolder,
  makeProject,
  put,
  putProgram,
  subjectOf,
  WEB_BOT,
} from '../../testing/doctor-project.ts'
import { checkBot, checkProject } from './project.ts'

const run = promisify(execFile)
const VERSION = botcliVersion()

describe('the project', () => {
  it('is one that was made', async () => {
    const { folder } = await makeProject()
    const subject = await subjectOf(folder)
    expect(await checkProject(subject)).toEqual({ status: 'ok', message: `made by botcli ${VERSION}` })
    expect(await checkBot(subject)).toEqual({ status: 'ok', message: 'server/bot.py' })
  })

  it.each(['server', 'client'])('is found from its %s folder', async (part) => {
    const { folder } = await makeProject({ ...WEB_BOT, clientFramework: 'vanilla' })
    expect((await subjectOf(join(folder, part))).project.folder).toBe(folder)
  })

  it('may be of a newer version, which is named', async () => {
    const { folder } = await makeProject()
    await put(folder, '.botcli.json', '{"version":"9.0.0","configuration":{"new":1},"files":{}}')
    expect(await checkProject(await subjectOf(folder))).toEqual({
      status: 'warning',
      message: `.botcli.json was written by botcli 9.0.0 and is not understood by this one (${VERSION}); only what can be seen without it is checked`,
      fix: 'Use botcli 9.0.0 or newer for this project',
    })
  })

  it('may have lost its bot, or never had one', async () => {
    const { folder } = await makeProject()
    await rm(join(folder, 'server'), { recursive: true })
    expect(await checkBot(await subjectOf(folder))).toMatchObject({ status: 'fault' })
    const empty = await freshFolder()
    expect(await checkBot(await subjectOf(empty))).toMatchObject({ status: 'fault', fix: 'botcli init .' })
  })

  it('awaits a coding agent when its guides are all there is', async () => {
    const folder = await freshFolder()
    for (const { path, content } of planGuides(undefined)) await put(folder, path, String(content))
    const subject = await subjectOf(folder)
    expect(await checkProject(subject)).toEqual({
      status: 'ok',
      message: 'guides for a coding agent (AGENTS.md), which is to make a project here',
    })
    expect(await checkBot(subject)).toEqual({
      status: 'fault',
      message: 'there is none yet: AGENTS.md tells your coding agent how to make one, or make it now',
      fix: 'botcli init .',
    })
  })

  it.each([
    ['AGENTS.md', '# My own rules\n'],
    ['half.ts', 'export async function bot( {'],
  ])('awaits nobody with a file of another kind: %s', async (path, text) => {
    const folder = await freshFolder()
    for (const { path, content } of planGuides(undefined)) await put(folder, path, String(content))
    await put(folder, path, text)
    expect((await checkBot(await subjectOf(folder))).message).toMatch(/^No /)
    expect((await checkProject(await subjectOf(folder))).message).toMatch(/^not made by botcli init/)
  })
})

describe('damaged answers', () => {
  const DAMAGED = '.botcli.json is damaged; only what can be seen without it is checked'
  const env = { PATH: process.env.PATH, HOME: '/nowhere' }

  async function repository(): Promise<{ folder: string; git: (...args: string[]) => Promise<unknown> }> {
    const { folder } = await makeProject()
    const me = ['-c', 'user.name=me', '-c', 'user.email=me@example.com']
    const git = (...args: string[]) => run('git', [...me, ...args], { cwd: folder })
    await git('init', '-q')
    await git('add', '.')
    return { folder, git }
  }

  it.each(['{"version": "0.1', '', '[]', `{"version":"${VERSION}","configuration":{"mode":1},"files":{}}`])(
    'come back from git: %j',
    async (text) => {
      const { folder } = await repository()
      await put(folder, '.botcli.json', text)
      const found = await checkProject(await subjectOf(folder, { env }))
      expect(found).toEqual({ status: 'warning', message: DAMAGED, fix: 'git checkout -- .botcli.json' })
      await run('sh', ['-c', found.fix ?? ''], { cwd: folder })
      expect(await checkProject(await subjectOf(folder, { env }))).toMatchObject({ status: 'ok' })
    },
  )

  it('come back from the last commit when they were staged like that', async () => {
    const { folder, git } = await repository()
    await git('commit', '-q', '-m', 'all')
    await put(folder, '.botcli.json', '{')
    await git('add', '.')
    const found = await checkProject(await subjectOf(folder, { env }))
    expect(found.fix).toBe('git checkout HEAD -- .botcli.json')
    await run('sh', ['-c', found.fix ?? ''], { cwd: folder })
    expect(await checkProject(await subjectOf(folder, { env }))).toMatchObject({ status: 'ok' })
  })

  it.each(['no repository', 'a repository that has no others'])('are asked for again: %s', async (kind) => {
    const { folder, git } = await repository()
    const whole = await readFile(join(folder, '.botcli.json'), 'utf8')
    await put(folder, '.botcli.json', '{')
    if (kind === 'no repository') await rm(join(folder, '.git'), { recursive: true })
    else await git('add', '.')
    const found = await checkProject(await subjectOf(folder, { env }))
    expect(found).toMatchObject({ status: 'warning', message: DAMAGED })
    // A botcli that makes the same project once more.
    const programs = await freshFolder()
    await put(programs, 'whole', whole)
    const make = `test "$1" = init && mkdir "$2" && cp ${join(programs, 'whole')} "$2/.botcli.json" && basename "$2"`
    await putProgram(programs, 'botcli', make)
    const { stdout } = await run('sh', ['-c', found.fix ?? ''], {
      cwd: folder,
      env: { PATH: `${programs}:${process.env.PATH}`, TMPDIR: programs },
    })
    expect(stdout).toBe(`${basename(folder)}\n`)
    expect(await checkProject(await subjectOf(folder, { env }))).toMatchObject({ status: 'ok' })
  })
})
