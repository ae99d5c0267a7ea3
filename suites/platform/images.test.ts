import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { npmPacker } from '../../packages/cli/src/cloud/npm-packer.ts'
import { copyExample } from '../../packages/cli/src/testing/example.ts'
import { BASE, writeBaseContext } from '../builders/base-image.ts'
import { debianPrograms } from '../builders/debian.ts'

const run = promisify(execFile)
const LIMIT_MS = 300_000
/** What stands for the published image of Node. */
const NODE_IMAGE = 'localhost/botcli-test-node:1'

const noNpm = await run('npm', ['view', 'zod', 'version'], { timeout: 60_000 }).then(
  () => undefined,
  () => ({ skipped: 'there is no npm, or no registry that it reaches' }),
)
const noBuildah =
  process.getuid?.() === 0
    ? await debianPrograms({ '/usr/bin/buildah': 'buildah', '/usr/bin/busybox': 'busybox-static' })
    : { skipped: 'only root may make the base image' }

const noPodman =
  noBuildah ?? (await debianPrograms({ '/usr/bin/podman': 'podman', '/usr/sbin/runc': 'runc' }))

describe.skipIf(noNpm)(`packages of this botcli${noNpm ? ` (${noNpm.skipped})` : ''}`, () => {
  let folder: string
  let installed: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'botcli-platform-'))
    const packed = join(folder, 'packed')
    installed = join(folder, 'installed')
    await mkdir(packed)
    await mkdir(installed)
    await npmPacker(process.env).pack(packed, new AbortController().signal)
    const names = (await readdir(packed)).filter((name) => name.endsWith('.tgz'))
    for (const name of names) await copyFile(join(packed, name), join(installed, name))
    // As the container build files do it.
    const options = { cwd: installed, timeout: LIMIT_MS }
    await run('npm', ['install', '--no-audit', '--no-fund', ...names.map((name) => `./${name}`)], options)
  }, LIMIT_MS)

  afterAll(async () => {
    await rm(folder, { recursive: true, force: true })
  })

  it('are installed together, though no registry has them', async () => {
    const { stdout } = await run(join(installed, 'node_modules/.bin/botcli'), ['--version'])
    expect(stdout.trim()).toBe(npmPacker(process.env).version)
  })

  describe.skipIf(noBuildah)(`in images of buildah${noBuildah ? ` (${noBuildah.skipped})` : ''}`, () => {
    let cloud: ChildProcess
    let data: string
    let text = ''
    const place = (): readonly string[] => [
      ...['--root', join(data, 'images/root')],
      ...['--runroot', join(data, 'images/run')],
    ]
    const botcli = (): string => join(installed, 'node_modules/.bin/botcli')
    const environment = (): NodeJS.ProcessEnv => ({
      PATH: process.env.PATH ?? '',
      HOME: join(folder, 'home'),
    })

    beforeAll(async () => {
      data = join(folder, 'data')
      await mkdir(join(folder, 'home'))
      await mkdir(data, { mode: 0o700 })
      await writeFile(join(data, 'cloud.json'), JSON.stringify({ builds: { builders: ['buildah'] } }))
      await makeNodeImage(folder, place())
      // The installed one packs itself again, from where it is installed.
      cloud = spawn(botcli(), ['cloud', '--port', '0', '--data', data], {
        env: environment(),
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      for (const stream of [cloud.stdout, cloud.stderr])
        stream?.setEncoding('utf8').on('data', (piece: string) => {
          text += piece
        })
      await vi.waitUntil(() => /"msg":"ready"/.test(text), { timeout: 60_000 })
    }, LIMIT_MS)

    afterAll(async () => {
      if (cloud?.exitCode === null) {
        cloud.kill('SIGINT')
        await once(cloud, 'exit')
      }
      await run('buildah', [...place(), 'rm', '--all'])
      await run('buildah', [...place(), 'rmi', '--all', '--force'])
    }, LIMIT_MS)

    it(
      'are there, though nobody has put them beside the example',
      async () => {
        const { project, own } = await makeEcho(folder)
        await writeFile(join(project, 'Dockerfile'), `${own}RUN echo "inside: $(botcli --version)"\n`)
        const options = { env: environment(), timeout: LIMIT_MS }
        const create = async (...args: string[]): Promise<string> =>
          (await run(botcli(), ['build', 'create', project, ...args], options)).stdout
        const { version } = npmPacker(process.env)
        const log = await create()
        expect(log).toContain(`Packing botcli ${version}, once for all builds…\n`)
        expect(log).toContain(`botcli ${version} comes from this cloud\n`)
        expect(log).toMatch(new RegExp(`^inside: ${version}$`, 'm'))
        // The same packages are the same layers: what they install is not installed again.
        await writeFile(join(project, 'Dockerfile'), `${own}RUN echo "again: $(botcli --version)"\n`)
        const again = await create()
        expect(again).not.toContain('Packing')
        expect(again).toMatch(/RUN npm install.*\n(?:.*\n)?.*Using cache/)
        expect(again).toMatch(new RegExp(`^again: ${version}$`, 'm'))
      },
      LIMIT_MS,
    )

    it.skipIf(noPodman)(
      `run it as an agent${noPodman ? ` (${noPodman.skipped})` : ''}`,
      async () => {
        const { project } = await makeEcho(folder)
        const options = { env: environment(), timeout: LIMIT_MS }
        const { stderr } = await run(botcli(), ['deploy', project], options)
        expect(stderr).toMatch(/^Deployment 1 of echo takes sessions after /m)
      },
      LIMIT_MS,
    )
  })
})

/** Copies the example, but for the image that it begins with; a registry would have that. */
async function makeEcho(folder: string): Promise<{ readonly project: string; readonly own: string }> {
  const project = await mkdtemp(join(folder, 'echo-'))
  await copyExample('echo', project)
  const file = await readFile(join(project, 'Dockerfile'), 'utf8')
  const own = file.replace(/^FROM node:\S+$/m, `FROM ${NODE_IMAGE}`)
  await writeFile(join(project, 'Dockerfile'), own)
  return { project, own }
}

/** Makes an image with Node, npm and a user `node`, which reaches the registry as this machine does. */
async function makeNodeImage(folder: string, place: readonly string[]): Promise<void> {
  const build = async (tag: string, context: string): Promise<void> => {
    const options = ['build', '--isolation', 'chroot', '--layers', '--tag', tag]
    await run('buildah', [...place, ...options, context], { timeout: LIMIT_MS })
  }
  await writeBaseContext(join(folder, 'base'))
  await build(BASE, join(folder, 'base'))
  const context = join(folder, 'node')
  await mkdir(context)
  const lines = [
    `FROM ${BASE}`,
    'ENV PATH=/usr/bin:/bin',
    'RUN echo node:x:1000:1000::/tmp:/bin/sh >> /etc/passwd && mkdir -p /usr/bin && ln -s /bin/env /usr/bin/env',
  ]
  const { NODE_EXTRA_CA_CERTS: authorities } = process.env
  if (authorities) {
    await copyFile(authorities, join(context, 'authorities.crt'))
    lines.push('COPY authorities.crt /etc/', 'ENV NODE_EXTRA_CA_CERTS=/etc/authorities.crt')
  }
  await writeFile(join(context, 'Dockerfile'), `${lines.join('\n')}\n`)
  await build(NODE_IMAGE, context)
}
