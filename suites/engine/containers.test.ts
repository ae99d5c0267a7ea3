import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildahProbe } from '../../packages/cloud/src/builders/buildah/buildah-probe.ts'
import type { Builder } from '../../packages/cloud/src/builders/builder.ts'
import { dockerProbe } from '../../packages/cloud/src/builders/docker/docker-probe.ts'
import { findLimiter } from '../../packages/cloud/src/builders/limits/find-limiter.ts'
import type { Artifact, Instance } from '../../packages/cloud/src/engine/engine.ts'
import { HttpInstanceClient } from '../../packages/cloud/src/engine/http-instance-client.ts'
import { JOURNAL_START, JournalReader } from '../../packages/cloud/src/engine/journal-reader.ts'
import { until } from '../../packages/cloud/src/testing/cloud-fixture.ts'
import {
  buildProgram,
  InstanceBench,
  processesOfInstance,
  ready,
} from '../../packages/cloud/src/testing/instance-bench.ts'
import { debianPrograms } from '../builders/debian.ts'
import { Engine, unpackDebian } from '../builders/engine.ts'
import { makeInstanceImage } from './instance-image.ts'

const run = promisify(execFile)
const notRoot = process.getuid?.() === 0 ? undefined : { skipped: 'only root may start an engine' }
const busybox = { '/usr/bin/busybox': 'busybox-static' }
const noPodman =
  notRoot ??
  (await debianPrograms({
    ...busybox,
    ...{ '/usr/bin/buildah': 'buildah', '/usr/bin/podman': 'podman', '/usr/sbin/runc': 'runc' },
  }))
const programs = await mkdtemp(join(tmpdir(), 'botcli-dockerd-'))
const noDocker = notRoot ?? (await debianPrograms(busybox)) ?? (await unpackDocker())
const starter = buildProgram('engine-starter')

async function unpackDocker(): Promise<{ readonly skipped: string } | undefined> {
  try {
    await unpackDebian(['docker.io', 'containerd', 'runc'], programs)
    return undefined
  } catch (error) {
    return { skipped: `its packages could not be had: ${(error as Error).message.trim().split('\n').at(-1)}` }
  }
}

/** Where images are built and run. */
interface Place {
  readonly bench: InstanceBench
  readonly builder: Builder
  /** Every container that there is. */
  containers(): Promise<readonly string[]>
  close(): Promise<void>
}

function behaves(
  name: string,
  missing: { readonly skipped: string } | undefined,
  open: () => Promise<Place>,
): void {
  const title = missing === undefined ? name : `${name} (${missing.skipped})`
  describe.skipIf(missing !== undefined)(title, () => {
    let place: Place
    let bench: InstanceBench
    let artifact: Artifact

    beforeAll(async () => {
      place = await open()
      bench = place.bench
      artifact = { kind: 'image', name: await makeInstanceImage(place.builder) }
    })

    afterAll(async () => {
      await place?.close()
    })

    async function start(code = '', env: Readonly<Record<string, string>> = {}): Promise<Instance> {
      return await bench.engine.start(bench.spec(artifact, { env: { CODE: code, ...env } }))
    }

    async function told(instance: Instance): Promise<string> {
      const { records } = await new JournalReader(instance).read(JOURNAL_START)
      return records.map((record) => (record.type === 'log' ? record.line.msg : '')).join('\n')
    }

    async function isGone(instance: Instance): Promise<void> {
      await bench.engine.remove(instance.id)
      expect(await readdir(bench.instances)).not.toContain(instance.id)
      expect(await place.containers()).toEqual([])
      expect(await processesOfInstance(instance.id)).toEqual([])
    }

    it('runs an image with its own command and user, which ends when it is told to', async () => {
      expect(await bench.engine.refusal(artifact)).toBeUndefined()
      const instance = await start('console.log("user", process.getuid())')
      await ready(instance)
      const info = await new HttpInstanceClient().info(instance.socketPath)
      expect(info.instanceId).toBe(instance.id)
      expect(await readFile(instance.outputPath, 'utf8')).toContain('user 1234')
      await instance.stop(20_000)
      expect(await instance.exited).toEqual({ code: 0, signal: null, outOfMemory: false })
      expect(await told(instance)).toBe('ready\ntold to end')
      await isGone(instance)
    })

    it('gives it its secrets, and shows them to nobody else', async () => {
      const env = { API_KEY: 'two\nlines = "more"', LD_PRELOAD: '', HTTPS_PROXY: 'http://user:pa ss@proxy:1' }
      const instance = await start('console.log(JSON.stringify(process.env))', env)
      await ready(instance)
      const seen = JSON.parse((await readFile(instance.outputPath, 'utf8')).trim().split('\n').at(-1) ?? '')
      expect(seen).toMatchObject(env)
      expect(seen.HOME).toBe('/root')
      for (const pid of await processesOfInstance(instance.id)) {
        const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
        expect(line).not.toMatch(/two\nlines|pa ss/)
      }
      await instance.stop(20_000)
      await isGone(instance)
    })

    it('tells in its output why a bot could not be loaded', async () => {
      const instance = await start('throw new TypeError("no key for the model")')
      expect(await instance.exited).toEqual({ code: 1, signal: null, outOfMemory: false })
      expect(await readFile(instance.outputPath, 'utf8')).toContain('TypeError: no key for the model')
      await isGone(instance)
    })

    it('ends one that does not end by itself', async () => {
      const instance = await start('', { DEAF: '1' })
      await ready(instance)
      await instance.stop(1000)
      expect(await instance.exited).toMatchObject({ code: null, signal: 'SIGKILL' })
      expect(await told(instance)).toContain('told to end')
      await isGone(instance)
    })

    it('is stopped before it has begun', async () => {
      const instance = await start()
      await instance.stop(0)
      await instance.exited
      await isGone(instance)
    })

    it('goes on without the control plane and the program that takes its output, and is found again', async () => {
      const spec = bench.spec(artifact)
      const id = spec.settings.instanceId
      const { dataFolder, instances: folder, runner, sandbox } = bench
      const task = JSON.stringify({ spec, dataFolder, folder, runner, sandbox })
      const child = spawn(process.execPath, [starter, task], {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { ...process.env, ...bench.env },
      })
      await once(child.stdout, 'data')
      child.kill('SIGKILL')
      await once(child, 'exit')
      const instance = await bench.engine.find(id)
      if (instance === undefined) throw new Error('it was not found')
      await ready(instance)
      const record = JSON.parse(await readFile(join(folder, id, 'instance.json'), 'utf8'))
      process.kill(record.run.client.pid, 'SIGKILL')
      const other = await bench.again()
      const found = await other.find(id)
      if (found === undefined) throw new Error('it was not found')
      await ready(found)
      await found.stop(20_000)
      const exit = { code: 0, signal: null, outOfMemory: false }
      expect(await found.exited).toEqual(exit)
      expect(await instance.exited).toEqual(exit)
      await other.close()
      await isGone(instance)
    })

    it('tells that its first process was killed', async () => {
      const instance = await start('console.log("loaded")')
      await ready(instance)
      const inside = await until(async () => {
        const all = await processesOfInstance(instance.id)
        const lines = await Promise.all(
          all.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
        )
        return all.find((_, index) => lines[index]?.startsWith('node\0/app/runner.mjs'))
      }, 'the runner')
      process.kill(inside, 'SIGKILL')
      expect(await instance.exited).toMatchObject({ code: null, signal: 'SIGKILL' })
      await isGone(instance)
    })

    it('ends one that takes too much memory', async () => {
      const CODE = 'const all = []; for (;;) all.push(Buffer.alloc(8 * 1024 * 1024, 1))'
      const limits = { memoryBytes: 96 * 1024 * 1024, cpus: 1 }
      const instance = await bench.engine.start(bench.spec(artifact, { env: { CODE }, limits }))
      expect(await instance.exited).toMatchObject({ signal: 'SIGKILL' })
      await isGone(instance)
    })

    it('refuses an image that is not there, and leaves nothing of one that cannot be fetched', async () => {
      const missing = { kind: 'image', name: 'localhost/botcli/nothing:1' } as const
      expect(await bench.engine.refusal(missing)).toContain('is not on this machine any more')
      const auth = Buffer.from('user:password').toString('base64')
      const foreign = {
        kind: 'image',
        name: 'localhost:9/a/b:1',
        foreign: { credentials: { host: 'localhost:9', auth } },
      } as const
      expect(await bench.engine.refusal(foreign)).toBeUndefined()
      await expect(bench.engine.start(bench.spec(foreign))).rejects.toThrow(/could not be fetched/)
      expect(await readdir(bench.instances)).toEqual([])
    })
  })
}

behaves('images of buildah, run by podman', noPodman, async () => {
  const env = { ...process.env, DOCKER_HOST: 'unix:///nowhere' }
  const bench = await InstanceBench.open({ runner: ['botcli'], sandbox: false, env })
  const images = join(bench.dataFolder, 'images')
  const found = await buildahProbe({ limiter: findLimiter, storage: images }).probe()
  if ('unavailable' in found) throw new Error(found.unavailable)
  const place = ['--root', join(images, 'root'), '--runroot', join(images, 'run')]
  return {
    bench,
    builder: found,
    containers: async () => {
      const { stdout } = await run('buildah', [...place, 'containers', '--all', '--quiet'])
      return stdout.split('\n').filter((line) => line !== '')
    },
    close: async () => {
      await run('buildah', [...place, 'rmi', '--all', '--force'])
      await bench.close()
    },
  }
})

it.skipIf(noPodman !== undefined)(
  'podman leaves nothing of an image that is not wanted any more while it is being fetched',
  async () => {
    // A registry that lets everybody in and never answers.
    const sockets = new Set<Socket>()
    const registry = createServer((socket) => {
      sockets.add(socket)
      socket.resume().on('close', () => sockets.delete(socket))
      socket.on('error', () => undefined)
    })
    await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve))
    const { port } = registry.address() as AddressInfo
    const env = { ...process.env, DOCKER_HOST: 'unix:///nowhere' }
    const bench = await InstanceBench.open({ runner: ['botcli'], sandbox: false, env })
    try {
      const foreign = { credentials: undefined }
      const spec = bench.spec({ kind: 'image', name: `localhost:${port}/a/b:1`, foreign })
      const unwanted = new AbortController()
      const start = bench.engine.start(spec, unwanted.signal)
      await Promise.race([start, until(() => sockets.size > 0, 'the registry to be asked')])
      unwanted.abort()
      await expect(start).rejects.toThrow('It is not wanted any more.')
      expect(await readdir(bench.instances)).toEqual([])
      expect(await processesOfInstance(spec.settings.instanceId)).toEqual([])
      await until(() => sockets.size === 0, 'nobody to wait for the registry')
    } finally {
      // Nothing is mounted in the folder any more, or it could not be removed.
      await bench.close()
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => registry.close(resolve))
    }
  },
)

behaves('images of Docker', noDocker, async () => {
  const engine = await Engine.docker(programs)
  const env = { ...process.env, DOCKER_HOST: `unix://${engine.socket}` }
  const builder = await dockerProbe(env).probe()
  if ('unavailable' in builder) throw new Error(`${builder.unavailable}: ${engine.log}`)
  const bench = await InstanceBench.open({ runner: ['botcli'], sandbox: false, env })
  return {
    bench,
    builder,
    containers: async () => {
      const { stdout } = await run('docker', ['--host', env.DOCKER_HOST, 'ps', '--all', '--quiet'])
      return stdout.split('\n').filter((line) => line !== '')
    },
    close: async () => {
      await bench.close()
      await engine.close()
    },
  }
})

afterAll(async () => {
  await rm(programs, { recursive: true, force: true })
  await rm(starter, { force: true })
})
