import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { CloudDouble, type DoubleBuild, hashOf } from '../testing/cloud-double.ts'
import { folderWith, type Tree } from '../testing/folder.ts'
import { TypedCommand, typed } from '../testing/typed-command.ts'

const PROJECT = {
  Dockerfile: 'FROM x\n',
  'bot.py': 'print()',
  '.env': 'KEY=hush',
  '.dockerignore': 'tests\n',
}

const TMPDIR = process.env.TMPDIR
beforeAll(async () => {
  process.env.TMPDIR = await mkdtemp(join(tmpdir(), 'botcli-create-'))
})
afterAll(async () => {
  await rm(tmpdir(), { recursive: true })
  if (TMPDIR === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = TMPDIR
})

/** A cloud, and a folder to build in it. */
async function setting(tree: Tree = PROJECT) {
  const cloud = await CloudDouble.start()
  return { cloud, env: cloud.env, cwd: await folderWith(tree) }
}

function succeed(build: DoubleBuild): void {
  build.log('STEP 1: FROM x', 'done')
  build.finish('success')
}

describe('botcli build create', () => {
  it('says that a build waits for its turn', async () => {
    const { cloud, env, cwd } = await setting()
    let made: DoubleBuild | undefined
    cloud.onBuild = (build) => {
      build.record = { ...build.record, status: 'pending' }
      made = build
    }
    const command = new TypedCommand(['build', 'create'], { env, cwd })
    await vi.waitFor(() => expect(command.stderrText).toContain('It waits for its turn'), 45_000)
    if (made) succeed(made)
    expect(await command.ended).toBe(0)
  })

  it('packs, uploads, builds, shows the log and the outcome', async () => {
    const { cloud, env, cwd } = await setting()
    cloud.onBuild = succeed
    const { code, stdout, stderr } = await typed(['build', 'create'], { env, cwd })
    expect(stdout).toBe('STEP 1: FROM x\ndone\n')
    expect(stderr).toMatch(/^3 files, \d+ B, from .* \(Dockerfile; \.dockerignore says what is left out\)\n/)
    expect(stderr).toContain('Never sent, because they hold secrets: .env.')
    expect(stderr).toContain('Uploaded 100%')
    expect(stderr).toMatch(/Build \S+ succeeded after 1\.5 s\.\n {2}image {2}bundle:x \(2\.0 KB\)\n$/)
    expect(code).toBe(0)
    const [archive] = cloud.uploads.values()
    const [build] = cloud.builds.values()
    expect(archive && (await hashOf(archive))).toBe(build?.record.contextHash)
    expect(
      cloud.seen
        .filter((one) => !one.includes('/upload/'))
        .map((one) => one.replace(/[?].*|[0-9a-f-]{36}/g, '')),
    ).toEqual([
      'GET /v1/properties',
      'GET /v1/builds',
      'POST /v1/builds/upload-url',
      'POST /v1/builds',
      'GET /v1/builds//logs',
      'GET /v1/builds/',
    ])
    expect(await packages()).toEqual([])
  })

  it('tells programs the same, line by line', async () => {
    const { cloud, env, cwd } = await setting()
    cloud.onBuild = succeed
    const command = new TypedCommand(['build', 'create', '--json'], { env, cwd })
    expect(await command.ended).toBe(0)
    expect(command.stderrText).toBe('')
    expect(command.events.map(({ type }) => type)).toEqual([
      'context',
      'uploaded',
      'build',
      'log',
      'log',
      'end',
      'outcome',
    ])
    expect(command.events[3]).toEqual({ type: 'log', number: 0, text: 'STEP 1: FROM x' })
    expect(command.events.at(-1)).toMatchObject({ status: 'success', cached: false })
  })

  it.each([
    [
      'failed',
      { code: 'install_failed', step: 'RUN pip install .', line: 3, hint: 'Mend it.' },
      /failed after 1\.5 s \[install_failed\]\.\n {2}why {4}It ended as install_failed\.\n {2}step {3}RUN pip install \.\n {2}where {2}Dockerfile, line 3\n {2}hint {3}Mend it\.\n$/,
    ],
    ['timeout', null, /took too long after 1\.5 s\.\n$/],
  ] as const)('ends with 1 when it is %s, and says why', async (status, failure, expected) => {
    const { cloud, env, cwd } = await setting()
    cloud.onBuild = (build) => build.finish(status, failure)
    const { code, stderr } = await typed(['build', 'create'], { env, cwd })
    expect(code).toBe(1)
    expect(stderr).toMatch(expected)
  })

  it('takes a build of the same files, but not of another build file or region, nor with --no-cache', async () => {
    const { cloud, env, cwd } = await setting({ ...PROJECT, Other: 'FROM y' })
    cloud.onBuild = succeed
    expect((await typed(['build', 'create'], { env, cwd })).code).toBe(0)
    const again = await typed(['build', 'create'], { env, cwd })
    expect(again.code).toBe(0)
    expect(again.stderr).toContain('The same files were built before')
    expect(cloud.builds.size).toBe(1)
    for (const more of [['--no-cache'], ['--dockerfile', 'Other'], ['--region', 'far']]) {
      expect((await typed(['build', 'create', ...more], { env, cwd })).code).toBe(0)
    }
    expect(
      [...cloud.builds.values()].map(({ record }) => `${record.dockerfilePath} ${record.region}`),
    ).toEqual(['Dockerfile local', 'Dockerfile local', 'Other local', 'Dockerfile far'])
  })

  it('goes by deploy.toml, in a project as in its server folder', async () => {
    const toml =
      'agent_name = "my-bot"\nregion = "far" # away\n\n[build]\ncontext_dir = "."\ndockerfile = "docker/Bot"\n'
    const { cloud, env, cwd } = await setting({
      'server/deploy.toml': toml,
      'server/docker/Bot': 'FROM x',
      'client/x': '',
    })
    cloud.onBuild = succeed
    expect((await typed(['build', 'create'], { env, cwd })).code).toBe(0)
    const [build] = cloud.builds.values()
    expect(build?.record).toMatchObject({ dockerfilePath: 'docker/Bot', region: 'far' })
    const { stderr } = await typed(['build', 'create', 'server'], { env, cwd })
    expect(stderr).toContain('The same files were built before')
  })

  it('lists what it would send, and asks nobody', async () => {
    const { cwd } = await setting({ ...PROJECT, link: '->bot.py' })
    const { code, stdout } = await typed(['build', 'create', '--list'], { cwd })
    expect(code).toBe(0)
    expect(stdout).toBe('6 B  .dockerignore\n7 B  Dockerfile\n7 B  bot.py\n6 B  link -> bot.py\n')
    const json = await typed(['build', 'create', '--list', '--json'], { cwd })
    expect(JSON.parse(json.stdout)).toMatchObject({
      dockerfile: 'Dockerfile',
      ignoreFile: '.dockerignore',
      leftOut: { secrets: ['.env'], special: [] },
    })
  })

  it('lists nothing that steers a terminal', async () => {
    const steering = '\u001b[31mred\u009b2J'
    const { cwd } = await setting({ ...PROJECT, [`.env.${steering}`]: '', [`x/${steering}.pem`]: '' })
    const left = await typed(['build', 'create', '--list'], { cwd })
    expect(left.code).toBe(0)
    expect(left.stderr).toContain('.env. [31mred 2J')
    const { cwd: other } = await setting({ ...PROJECT, [steering]: '' })
    const refused = await typed(['build', 'create', '--list'], { cwd: other })
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('has control characters')
    for (const text of [left.stdout, left.stderr, refused.stdout, refused.stderr]) {
      expect(text).not.toMatch(/[^\P{Cc}\n]/u)
    }
  })

  it('leaves with --detach, and says the id', async () => {
    const { cloud, env, cwd } = await setting()
    const { code, stdout, stderr } = await typed(['build', 'create', '--detach'], { env, cwd })
    const [id] = cloud.builds.keys()
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${id}\n` })
    expect(stderr).toContain(`botcli build logs -f ${id}`)
  })

  it('says the id with --detach, too, where nothing has to be built', async () => {
    const { cloud, env, cwd } = await setting()
    cloud.onBuild = succeed
    await typed(['build', 'create'], { env, cwd })
    const [id] = cloud.builds.keys()
    const found = await typed(['build', 'create', '-d'], { env, cwd })
    expect({ code: found.code, stdout: found.stdout }).toEqual({ code: 0, stdout: `${id}\n` })
    // The cloud may know better when it is asked to build.
    const [build] = cloud.builds.values()
    cloud.intercept = (request) => {
      if (request.url !== '/v1/builds' || request.method !== 'POST') return undefined
      return [200, { build: build?.record, contextHash: build?.record.contextHash, cached: true }]
    }
    const given = await typed(['build', 'create', '-d', '--no-cache'], { env, cwd })
    expect({ code: given.code, stdout: given.stdout }).toEqual({ code: 0, stdout: `${id}\n` })
  })

  it.each([
    [['--dockerfile', 'none'], 1, 'There is no none in'],
    [['--dockerfile', '../x'], 2, '--dockerfile must be a file inside of'],
    [['nowhere'], 2, 'There is no folder nowhere.'],
    [['bot.py'], 2, 'bot.py is a file'],
    [['a', 'b'], 2, 'Usage: botcli build create [DIR] [options]'],
    [['--regoin', 'x'], 2, 'Did you mean --region?'],
  ])('%j is refused before anything is sent', async (argv, expected, message) => {
    const { cloud, env, cwd } = await setting()
    const { code, stderr } = await typed(['build', 'create', ...argv], { env, cwd })
    expect(stderr).toContain(message)
    expect(code).toBe(expected)
    expect(cloud.seen).toEqual([])
  })
})

describe('a connection that breaks', () => {
  it('while the log is followed is made again, and no line is lost or shown twice', async () => {
    const { cloud, env, cwd } = await setting()
    const lines = Array.from({ length: 60 }, (_, index) => `line ${index} ☺`)
    cloud.onBuild = (build) => {
      void (async () => {
        for (const [index, line] of lines.entries()) {
          build.log(line)
          if (index % 20 === 10) {
            await vi.waitUntil(() => build.followers.size > 0, { timeout: 20_000 })
            build.cut()
          }
        }
        await vi.waitUntil(() => build.followers.size > 0, { timeout: 20_000 })
        build.finish('success')
      })()
    }
    const { code, stdout, stderr } = await typed(['build', 'create'], { env, cwd })
    expect(stdout.trim().split('\n')).toEqual(lines)
    expect(stderr).toMatch(
      /\(connection lost: .*; trying again for some minutes\)\n\(connected again after [\d.]+ s; what came up since line \d+ follows\)/,
    )
    expect(stderr).not.toContain('not all of it was shown')
    expect(code).toBe(0)
  })

  it('while the context is uploaded is made again, at another place', async () => {
    const { cloud, env, cwd } = await setting()
    cloud.onBuild = succeed
    let uploads = 0
    cloud.intercept = (request) => {
      if (!request.url?.startsWith('/upload/')) return undefined
      uploads += 1
      if (uploads === 1) request.socket.destroy()
      return uploads === 2 ? [503, { error: 'busy', code: 'UNAVAILABLE' }] : undefined
    }
    const { code, stderr } = await typed(['build', 'create'], { env, cwd })
    expect(code).toBe(0)
    expect(stderr).toMatch(/The upload broke off \(.*\)\. Trying again\.\n/)
    expect(stderr).toMatch(/The upload was refused \(503\): busy\. Trying again\.\n/)
    expect(cloud.seen.filter((one) => one.endsWith('/upload-url'))).toHaveLength(3)
  })

  it('is told as it is when the cloud refuses', async () => {
    const { cloud, env, cwd } = await setting()
    cloud.intercept = (request) =>
      request.url?.startsWith('/upload/')
        ? [413, { error: 'The context is too large.', code: 'PAYLOAD_TOO_LARGE' }]
        : undefined
    const { code, stderr } = await typed(['build', 'create'], { env, cwd })
    expect(code).toBe(1)
    expect(stderr).toContain('botcli build create: The upload was refused (413): The context is too large.')
    expect(await packages()).toEqual([])
  })
})

describe('Ctrl-C', () => {
  it('cancels the build, shows its end and leaves with 130', async () => {
    const { cloud, env, cwd } = await setting()
    cloud.onBuild = (build) => build.log('working')
    const command = new TypedCommand(['build', 'create'], { env, cwd })
    await command.see('working')
    command.emit('SIGINT')
    expect(await command.ended).toBe(130)
    expect(command.stderrText).toContain('Cancelling the build. Ctrl-C again leaves at once.')
    expect(command.stderrText).toMatch(/was cancelled after 1\.5 s \[cancelled\]/)
    expect(cloud.seen.filter((one) => one.endsWith('/cancel'))).toHaveLength(1)
    expect(command.eventNames()).toEqual([])
  })

  it('pressed twice leaves at once', async () => {
    const { cloud, env, cwd } = await setting()
    cloud.onBuild = (build) => build.log('working')
    cloud.onCancel = () => {}
    const command = new TypedCommand(['build', 'create'], { env, cwd })
    await command.see('working')
    command.emit('SIGINT')
    await vi.waitUntil(() => cloud.seen.some((one) => one.endsWith('/cancel')), { timeout: 20_000 })
    // The same press may come twice within a moment; a second one comes later.
    await new Promise((resolve) => setTimeout(resolve, 150))
    command.emit('SIGINT')
    expect(command.exited).toBe(130)
    const [build] = cloud.builds.values()
    build?.finish('failed')
    expect(await command.ended).toBe(130)
  })

  it('does not remove a build that is over', async () => {
    const { cloud, env, cwd } = await setting()
    cloud.onBuild = (build) => build.log('working')
    const command = new TypedCommand(['build', 'create'], { env, cwd })
    await command.see('working')
    for (const build of cloud.builds.values()) build.record = { ...build.record, status: 'success' }
    command.emit('SIGINT')
    await vi.waitUntil(() => cloud.seen.some((one) => one.endsWith('/cancel')), { timeout: 20_000 })
    const [build] = cloud.builds.values()
    build?.finish('success')
    expect(await command.ended).toBe(130)
    expect(cloud.builds.size).toBe(1)
    expect(cloud.seen.filter((one) => one.startsWith('DELETE'))).toEqual([])
  })

  it.each([
    [[], (command: TypedCommand) => expect(command.stderrText).toMatch(/Stopped\. No build was made\.\n$/)],
    [
      ['--json'],
      (command: TypedCommand) => expect(command.events.at(-1)).toMatchObject({ code: 'INTERRUPTED' }),
    ],
  ] as const)('inside of a large file that is packed leaves nothing behind %j', async (more, expectEnd) => {
    const { cloud, env, cwd } = await setting({ ...PROJECT, big: randomBytes(80_000_000) })
    const command = new TypedCommand(['build', 'create', '--no-cache', ...more], { env, cwd })
    await vi.waitUntil(async () => (await packedBytes()) > 0, { timeout: 45_000, interval: 5 })
    command.emit('SIGINT')
    expect(await command.ended).toBe(130)
    expectEnd(command)
    expect(cloud.seen.filter((one) => one.startsWith('POST'))).toEqual([])
    expect(await packages()).toEqual([])
  })

  it('while it is uploaded makes no build', async () => {
    const { cloud, env, cwd } = await setting()
    let pressed = () => {}
    cloud.intercept = (request) => {
      if (!request.url?.startsWith('/upload/')) return undefined
      pressed()
      return new Promise(() => {})
    }
    const command = new TypedCommand(['build', 'create'], { env, cwd })
    pressed = () => command.emit('SIGINT')
    expect(await command.ended).toBe(130)
    expect(command.stderrText).toMatch(/Stopped\. No build was made\.\n$/)
    expect(cloud.builds.size).toBe(0)
    expect(await packages()).toEqual([])
  })

  it('while the build is being made cancels it', async () => {
    const { cloud, env, cwd } = await setting()
    const command = new TypedCommand(['build', 'create'], { env, cwd })
    cloud.intercept = (request) => {
      if (request.method === 'POST' && request.url === '/v1/builds') command.emit('SIGINT')
      return undefined
    }
    expect(await command.ended).toBe(130)
    expect(command.stderrText).toContain('Waiting for the build to be made, to cancel it.')
    const [build] = cloud.builds.values()
    expect(build?.record.failure?.code).toBe('cancelled')
  })
})

async function packedBytes(): Promise<number> {
  const [name] = await packages()
  if (name === undefined) return 0
  const file = await stat(join(tmpdir(), name, 'context.tar.gz')).catch(() => undefined)
  return file?.size ?? 0
}

async function packages(): Promise<readonly string[]> {
  return (await readdir(tmpdir())).filter((name) => name.startsWith('botcli-context-'))
}
