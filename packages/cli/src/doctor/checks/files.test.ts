import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { chmod, cp, readFile, rm, writeFile } from 'node:fs/promises'
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
  replaceIn,
  subjectOf,
  WEB_BOT,
} from '../../testing/doctor-project.ts'
import { checkClient, checkClientPort, devPort } from './client.ts'
import { checkCloud } from './cloud.ts'
import { checkGuide } from './guide.ts'
import { checkCallServerPort } from './ports.ts'
import { checkGit, checkNode, checkNpm } from './tools.ts'

const run = promisify(execFile)
const VERSION = botcliVersion()

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
    expect(await checkCallServerPort(await subjectOf(folder, { env }))).toMatchObject({
      status: 'fault',
      fix: 'In the environment, set CALL_SERVER_PORT to another number',
    })
    expect(await checkCallServerPort(await subjectOf(folder))).toEqual({ status: 'ok', message: '1 is free' })
    await put(folder, 'server/.env', 'CALL_SERVER_PORT=0\n')
    expect(await checkCallServerPort(await subjectOf(folder, { cwd: join(folder, 'server') }))).toMatchObject(
      {
        fix: 'In .env, set CALL_SERVER_PORT to another number',
      },
    )
  })

  it('is not in every project', async () => {
    const { folder } = await makeProject()
    expect(await checkCallServerPort(await subjectOf(folder))).toBeUndefined()
  })
})

describe('guides', () => {
  it.each([
    ['0.0.9', 'warning', 'botcli init . --overwrite-guide'],
    ['99.0.0', 'warning', 'Use botcli 99.0.0 or newer for this project'],
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

  it('are written again where they are, also in a folder that is called like the ready-made bot', async () => {
    const above = await freshFolder()
    const { folder } = await makeProject()
    await rm(join(folder, 'AGENTS.md'))
    await cp(folder, join(above, 'quickstart'), { recursive: true })
    const subject = await subjectOf(join(above, 'quickstart'), { cwd: above })
    expect(await checkGuide(subject)).toMatchObject({ fix: 'botcli init ./quickstart --overwrite-guide' })
  })
})

describe('the files for the cloud', () => {
  it('are asked for only if the project is meant for it', async () => {
    const { folder } = await makeProject({ ...WEB_BOT, deployToCloud: false })
    expect(await checkCloud(await subjectOf(folder))).toBeUndefined()
    const { folder: cloud } = await makeProject({ ...WEB_BOT, deployToCloud: true })
    expect(await checkCloud(await subjectOf(cloud))).toEqual({
      status: 'ok',
      message: 'server/Dockerfile and server/deploy.toml are there; no image was built',
    })
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
