import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { chmod, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { botcliVersion } from '@botcli/scaffold'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  freshFolder,
  makeProject,
  put,
  putProgram,
  subjectOf,
  WEB_BOT,
} from '../../testing/doctor-project.ts'
import { checkClient, checkClientPort, devPort } from './client.ts'
import { checkCloud } from './cloud.ts'
import { checkGuide } from './guide.ts'
import { checkCallServerPort } from './ports.ts'
import { checkBot, checkProject } from './project.ts'
import { checkGit, checkNode, checkNpm } from './tools.ts'
import { checkWheel } from './wheel.ts'

const run = promisify(execFile)
const VERSION = botcliVersion()
const WHEEL = `server/wheels/botcli-${VERSION}-py3-none-any.whl`

async function replaceIn(file: string, from: string, to: string): Promise<void> {
  const text = await readFile(file, 'utf8')
  expect(text).toContain(from)
  await writeFile(file, text.replaceAll(from, to))
}

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

  it('may be of a version that is not understood', async () => {
    const { folder } = await makeProject()
    await put(folder, '.botcli.json', '{"version":"9.0.0","configuration":{"new":1},"files":{}}')
    expect(await checkProject(await subjectOf(folder))).toMatchObject({ status: 'warning' })
  })

  it('may have lost its bot, or never had one', async () => {
    const { folder } = await makeProject()
    await rm(join(folder, 'server'), { recursive: true })
    expect(await checkBot(await subjectOf(folder))).toMatchObject({ status: 'fault' })
    const empty = await freshFolder()
    expect(await checkBot(await subjectOf(empty))).toMatchObject({ status: 'fault', fix: 'botcli init .' })
  })
})

describe('tools', () => {
  it.each([
    ['20.19.0', 'ok'],
    ['24.1.0', 'ok'],
    ['20.18.3', 'fault'],
    ['18.20.0', 'fault'],
  ])('Node %s: %s', (version, status) => {
    expect(checkNode(version).status).toBe(status)
  })

  it('npm is needed for a client alone', async () => {
    const { folder } = await makeProject()
    expect(await checkNpm(await subjectOf(folder))).toBeUndefined()
    const { folder: withClient } = await makeProject({ ...WEB_BOT, clientFramework: 'vanilla' })
    expect(await checkNpm(await subjectOf(withClient))).toMatchObject({ status: 'fault' })
    const programs = await freshFolder()
    const npm = await putProgram(programs, 'npm', 'echo 11.1.0')
    expect(await checkNpm(await subjectOf(withClient, { env: { PATH: programs } }))).toEqual({
      status: 'ok',
      message: '11.1.0',
    })
    await writeFile(npm, '#!/bin/sh\necho "no such library" >&2; exit 1\n')
    await chmod(npm, 0o755)
    expect(await checkNpm(await subjectOf(withClient, { env: { PATH: programs } }))).toMatchObject({
      status: 'fault',
      message: 'npm cannot be run (no such library), but the client needs it',
    })
  })

  it('git is needed in a repository alone', async () => {
    const { folder } = await makeProject()
    expect(await checkGit(await subjectOf(folder))).toBeUndefined()
    await put(folder, '.git/HEAD', '')
    expect(await checkGit(await subjectOf(folder))).toMatchObject({ status: 'warning' })
  })
})

describe('the client', () => {
  it('is installed as its lock file says', async () => {
    const { folder } = await makeProject({ ...WEB_BOT, clientFramework: 'react' })
    const fault = { status: 'fault', message: 'its packages are not installed' }
    expect(await checkClient(await subjectOf(folder))).toEqual({ ...fault, fix: '(cd client && npm ci)' })
    await rm(join(folder, 'client/package-lock.json'))
    expect(await checkClient(await subjectOf(folder))).toEqual({
      ...fault,
      fix: '(cd client && npm install)',
    })
    await put(folder, 'client/node_modules/x', '')
    expect(await checkClient(await subjectOf(folder))).toMatchObject({ status: 'ok' })
    await rm(join(folder, 'client'), { recursive: true })
    expect(await checkClient(await subjectOf(folder))).toBeUndefined()
    expect(await checkClientPort(await subjectOf(folder))).toBeUndefined()
  })

  it.each([
    [{ clientFramework: 'vanilla' }, 5173],
    [{ clientFramework: 'react', clientServer: 'vite' }, 5173],
    [{ clientFramework: 'react', clientServer: 'nextjs' }, 3000],
  ])('is served where its tool listens: %j', async (flags, port) => {
    const { folder } = await makeProject({ ...WEB_BOT, ...flags })
    expect(devPort(await readFile(join(folder, 'client/package.json'), 'utf8'))).toBe(port)
  })

  it.each([
    ['vite --port 4000', 4000],
    ['next dev -p=4001', 4001],
    ['webpack', undefined],
  ])('is served where its script says: %s', (dev, port) => {
    expect(devPort(JSON.stringify({ scripts: { dev } }))).toBe(port)
  })

  it.each(['', '{}', '{', 'null', '{"scripts":{"dev":1}}'])(
    'may have no port that can be told: %s',
    (text) => {
      expect(devPort(text)).toBeUndefined()
    },
  )

  it('has a port that may be taken', async () => {
    const server = createServer((_, answer) => answer.end()).listen(0, 'localhost')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const { folder } = await makeProject({ ...WEB_BOT, clientFramework: 'vanilla' })
    await put(folder, 'client/package.json', JSON.stringify({ scripts: { dev: `vite --port ${port}` } }))
    expect(await checkClientPort(await subjectOf(folder))).toMatchObject({ status: 'warning' })
    server.close()
    await once(server, 'close')
    expect(await checkClientPort(await subjectOf(folder))).toEqual({
      status: 'ok',
      message: `${port} is free`,
    })
  })
})

describe('the call server', () => {
  const SIP = { ...WEB_BOT, transports: ['telephony_a_room_sip'], sipMode: 'dial-in' } as const

  it.each([
    ['{"status":"ready"}', 'ok'],
    ['hello', 'fault'],
  ])('may have its port, which says %s: %s', async (text, status) => {
    const server = createServer((_, answer) => answer.end(text)).listen(0, 'localhost')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const { folder } = await makeProject(SIP)
    await put(folder, 'server/.env', `CALL_SERVER_PORT=${port}\n`)
    const found = await checkCallServerPort(await subjectOf(folder))
    expect(found).toMatchObject({ status, message: expect.stringContaining(String(port)) })
  })

  it('needs a number, which the environment may give', async () => {
    const { folder } = await makeProject(SIP)
    await put(folder, 'server/.env', 'CALL_SERVER_PORT=1\n')
    const env = { CALL_SERVER_PORT: 'many' }
    expect(await checkCallServerPort(await subjectOf(folder, { env }))).toMatchObject({ status: 'fault' })
    expect(await checkCallServerPort(await subjectOf(folder))).toEqual({ status: 'ok', message: '1 is free' })
  })

  it('is not in every project', async () => {
    const { folder } = await makeProject()
    expect(await checkCallServerPort(await subjectOf(folder))).toBeUndefined()
  })
})

describe('guides', () => {
  it.each([
    ['0.0.9', 'warning', 'botcli init . --overwrite-guide'],
    ['99.0.0', 'warning', 'npm install --global botcli@latest'],
    [VERSION, 'ok', undefined],
  ])('of version %s: %s', async (version, status, fix) => {
    const { folder } = await makeProject()
    await replaceIn(join(folder, 'AGENTS.md'), `<!-- botcli ${VERSION} `, `<!-- botcli ${version} `)
    const found = await checkGuide(await subjectOf(folder))
    expect([found?.status, found?.fix]).toEqual([status, fix])
  })

  it('that are missing can be written again, and those of others are left alone', async () => {
    const { folder } = await makeProject()
    await put(folder, 'AGENTS.md', '# My own rules\n')
    expect(await checkGuide(await subjectOf(folder))).toBeUndefined()
    await rm(join(folder, 'AGENTS.md'))
    const elsewhere = await freshFolder()
    expect(await checkGuide(await subjectOf(folder, { cwd: elsewhere }))).toMatchObject({
      status: 'warning',
      fix: expect.stringMatching(/^botcli init \S+ --overwrite-guide$/),
    })
  })
})

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

  it('of another version is renewed by the command that is told, wherever the version stands', async () => {
    const { folder } = await makeProject({ ...WEB_BOT, deployToCloud: true })
    const project = join(folder, 'server/pyproject.toml')
    const container = join(folder, 'server/Dockerfile')
    const fresh = await Promise.all([project, container].map((file) => readFile(file, 'utf8')))
    await replaceIn(project, `botcli-${VERSION}-`, 'botcli-0.0.9-')
    await replaceIn(container, `botcli@${VERSION}`, 'botcli@0.0.9')
    expect(await checkWheel(await subjectOf(folder))).toMatchObject({ status: 'fault' })
    await put(folder, 'server/wheels/botcli-0.0.9-py3-none-any.whl', 'old')
    const found = await checkWheel(await subjectOf(folder))
    expect(found?.status).toBe('warning')
    const programs = await freshFolder()
    await putProgram(programs, 'uv', 'echo "$@" > synced')
    const env = { PATH: `${programs}:${process.env.PATH}` }
    await run('sh', ['-c', found?.fix ?? ''], { cwd: folder, env })
    expect(await Promise.all([project, container].map((file) => readFile(file, 'utf8')))).toEqual(fresh)
    expect(await readFile(join(folder, 'server/synced'), 'utf8')).toBe('sync\n')
    expect(await checkWheel(await subjectOf(folder))).toMatchObject({ status: 'ok' })
    await expect(stat(`${project}.old`)).rejects.toThrow('ENOENT')
  })

  it('is not in a project that installs our package otherwise', async () => {
    const folder = await freshFolder()
    await put(folder, 'bot.py', 'async def bot(args):\n    pass\n')
    expect(await checkWheel(await subjectOf(folder))).toBeUndefined()
    await put(folder, 'pyproject.toml', '[project]\nname = "x"\ndependencies = ["botcli"]\n')
    expect(await checkWheel(await subjectOf(folder))).toBeUndefined()
  })
})

describe('the files for the cloud', () => {
  it('are asked for only if the project is meant for it', async () => {
    const { folder } = await makeProject({ ...WEB_BOT, deployToCloud: false })
    expect(await checkCloud(await subjectOf(folder))).toBeUndefined()
    const { folder: cloud } = await makeProject({ ...WEB_BOT, deployToCloud: true })
    expect(await checkCloud(await subjectOf(cloud))).toMatchObject({ status: 'ok' })
  })

  it('come back from git if it has them', async () => {
    const { folder } = await makeProject({ ...WEB_BOT, deployToCloud: true })
    await run('git', ['init', '-q'], { cwd: folder })
    await run('git', ['add', '.'], { cwd: folder })
    await rm(join(folder, 'server/deploy.toml'))
    const env = { PATH: process.env.PATH }
    const found = await checkCloud(await subjectOf(folder, { env }))
    expect(found).toEqual({
      status: 'fault',
      message: 'server/deploy.toml is not there',
      fix: 'git checkout -- server/deploy.toml',
    })
    await run('sh', ['-c', found?.fix ?? ''], { cwd: folder })
    expect(await checkCloud(await subjectOf(folder))).toMatchObject({ status: 'ok' })
  })

  it('come back from a fresh project otherwise', async () => {
    const { folder } = await makeProject({ ...WEB_BOT, deployToCloud: true, name: "Tom's bot" })
    await rm(join(folder, 'server/Dockerfile'))
    await rm(join(folder, 'server/deploy.toml'))
    const found = await checkCloud(await subjectOf(folder))
    expect(found?.message).toBe('server/Dockerfile and server/deploy.toml are not there')
    // A botcli that writes down what it is given.
    const programs = await freshFolder()
    const record = join(programs, 'given')
    await putProgram(
      programs,
      'botcli',
      `printf '%s\\n' "$@" > ${record}; mkdir -p "$2/server"; echo x > "$2/server/Dockerfile"; echo y > "$2/server/deploy.toml"`,
    )
    await run('sh', ['-c', found?.fix ?? ''], {
      cwd: folder,
      env: { PATH: `${programs}:${process.env.PATH}`, TMPDIR: programs },
    })
    const [command, target, ...options] = (await readFile(record, 'utf8')).trim().split('\n')
    expect(command).toBe('init')
    expect(target).toContain(programs)
    expect(options.slice(0, 4)).toEqual(['--name', "Tom's bot", '--transport', 'webrtc'])
    expect(await checkCloud(await subjectOf(folder))).toMatchObject({ status: 'ok' })
  })
})
