import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, cp, lstat, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findSandbox } from '../builders/limits/find-limiter.ts'
import { readBundle, writeBundle } from '../builders/native/bundle.ts'
import { until } from '../testing/cloud-fixture.ts'
import { buildProgram, InstanceBench, processesOfInstance, ready } from '../testing/instance-bench.ts'
import type { Instance } from './engine.ts'
import { HttpInstanceClient } from './http-instance-client.ts'
import { INSTANCE_ID_VARIABLE } from './instance-environment.ts'
import { InstanceFolder } from './instance-folder.ts'
import { JOURNAL_START, JournalReader } from './journal-reader.ts'

let runner: readonly string[]
let starter: string

beforeAll(() => {
  runner = [process.execPath, buildProgram('runner-stand-in')]
  starter = buildProgram('engine-starter')
})

afterAll(async () => {
  await rm(runner[1] ?? '', { force: true })
  await rm(starter, { force: true })
})

/** What the journal of an instance says. */
async function told(instance: Instance): Promise<string> {
  const { records } = await new JournalReader(instance).read(JOURNAL_START)
  return records.map((record) => (record.type === 'log' ? record.line.msg : '')).join('\n')
}

async function outputOf(instance: Instance): Promise<string> {
  return await readFile(instance.outputPath, 'utf8')
}

const noSandbox = await findSandbox()
const sandboxes = [
  { name: 'without a sandbox', sandbox: false, skipped: undefined },
  {
    name: 'in a sandbox',
    sandbox: true,
    skipped: 'unavailable' in noSandbox ? noSandbox.unavailable : undefined,
  },
]

for (const { name, sandbox, skipped } of sandboxes) {
  describe.skipIf(skipped !== undefined)(`${name}${skipped === undefined ? '' : ` (${skipped})`}`, () => {
    let bench: InstanceBench

    beforeEach(async () => {
      bench = await InstanceBench.open({ runner, sandbox })
    })

    afterEach(async () => {
      await bench.close()
    })

    it('runs a bundle, which ends when it is told to, and leaves nothing', async () => {
      const instance = await bench.start('console.log("loaded", process.env.STAND_IN_ARGUMENTS)')
      await ready(instance)
      const info = await new HttpInstanceClient().info(instance.socketPath)
      expect(info.instanceId).toBe(instance.id)
      expect(await outputOf(instance)).toMatch(/loaded \["run",".*\/app\/bot\.mjs","--dialin"\]/)
      expect(await bench.engine.list()).toEqual([instance.id])
      await instance.stop(20_000)
      expect(await instance.exited).toEqual({ code: 0, signal: null, outOfMemory: false })
      expect(await told(instance)).toBe('ready\ntold to end')
      await bench.engine.remove(instance.id)
      expect(await readdir(bench.instances)).toEqual([])
      expect(await bench.engine.find(instance.id)).toBeUndefined()
    })

    it('does not start what is not wanted any more, and leaves nothing', async () => {
      const spec = bench.spec(await bench.bundle(''))
      const unwanted = AbortSignal.abort(new Error('called off'))
      await expect(bench.engine.start(spec, unwanted)).rejects.toThrow('called off')
      expect(await processesOfInstance(spec.settings.instanceId)).toEqual([])
      expect(await readdir(bench.instances)).toEqual([])
    })

    it('tells in its output why a bot could not be loaded', async () => {
      const instance = await bench.start('throw new TypeError("no key for the model")')
      expect(await instance.exited).toEqual({ code: 1, signal: null, outOfMemory: false })
      expect(await outputOf(instance)).toContain('TypeError: no key for the model')
      expect(existsSync(instance.socketPath)).toBe(false)
    })

    it('gives the bot its secrets and what the machine is, and nothing else of the control plane', async () => {
      await bench.close()
      const env = { ...process.env, LANG: 'C.UTF-8', CLOUD_DATABASE_PASSWORD: 'of the control plane' }
      bench = await InstanceBench.open({ runner, sandbox, env })
      const artifact = await bench.bundle('console.log(JSON.stringify(process.env))', {
        MODEL: 'small',
        PATH: '/app/bin',
      })
      const secret = 'two\nlines "and" more'
      const instance = await bench.engine.start(
        bench.spec(artifact, { env: { API_KEY: secret, LD_PRELOAD: '' } }),
      )
      await ready(instance)
      const seen = JSON.parse((await outputOf(instance)).trim()) as NodeJS.ProcessEnv
      expect(seen).toMatchObject({ API_KEY: secret, LANG: 'C.UTF-8', MODEL: 'small', PATH: process.env.PATH })
      expect(seen.HOME).toBe(homedir())
      expect(JSON.stringify(seen)).not.toContain('of the control plane')
      const lines = await Promise.all(
        (await processesOfInstance(instance.id)).map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8')),
      )
      expect(lines.length).toBeGreaterThan(0)
      expect(lines.join()).not.toContain('two\nlines')
    })

    it('ends all of one that does not end by itself', async () => {
      // Another one, which has left its group and closed everything.
      const code = `import { spawn } from 'node:child_process'
spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' }).unref()`
      const instance = await bench.start(code, { env: { DEAF: '1' } })
      await ready(instance)
      expect((await processesOfInstance(instance.id)).length).toBeGreaterThan(1)
      await instance.stop(100)
      expect(await instance.exited).toEqual({ code: null, signal: 'SIGKILL', outOfMemory: false })
      expect(await told(instance)).toContain('told to end')
      expect(await processesOfInstance(instance.id)).toEqual([])
    })

    it('tells that one was killed, and ends what it has left behind', async () => {
      const code = `import { spawn } from 'node:child_process'
spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' }).unref()
console.log('loaded')`
      const instance = await bench.start(code)
      await ready(instance)
      for (const pid of await processesOfInstance(instance.id)) {
        const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
        if (line.startsWith(process.execPath)) process.kill(pid, 'SIGKILL')
      }
      expect(await instance.exited).toMatchObject({ signal: 'SIGKILL', outOfMemory: false })
      expect(await processesOfInstance(instance.id)).toEqual([])
    })

    it('is stopped before it has begun', async () => {
      const instance = await bench.start('await new Promise((resolve) => setTimeout(resolve, 60_000))')
      await instance.stop(0)
      expect((await instance.exited).signal).toBe('SIGKILL')
      expect(await processesOfInstance(instance.id)).toEqual([])
    })

    it('goes on when the control plane is killed, and is found again', async () => {
      const spec = bench.spec(await bench.bundle('console.log("loaded")'))
      const id = spec.settings.instanceId
      const { dataFolder, instances: folder } = bench
      const task = JSON.stringify({ spec, dataFolder, folder, runner, sandbox })
      const child = spawn(process.execPath, [starter, task], { stdio: ['ignore', 'pipe', 'inherit'] })
      await once(child.stdout, 'data')
      child.kill('SIGKILL')
      await once(child, 'exit')
      const instance = await bench.engine.find(id)
      if (instance === undefined) throw new Error('it was not found')
      await ready(instance)
      expect(await bench.engine.find(id)).toBe(instance)
      const other = await bench.again()
      const seen = await other.find(id)
      await instance.stop(20_000)
      // How a process ended is told to its parent alone; bubblewrap is one.
      const exit = { code: sandbox ? 0 : null, signal: null, outOfMemory: false }
      expect(await instance.exited).toEqual(exit)
      expect(await seen?.exited).toEqual(exit)
      const third = await bench.again()
      expect(await (await third.find(id))?.exited).toEqual(exit)
      await other.close()
      await third.close()
    })

    it.skipIf(!existsSync('/bin/bash'))('gets nothing that the control plane was started with', async () => {
      const code = `import { readlinkSync } from 'node:fs'
console.log('leads to', readlinkSync('/proc/self/fd/251'))`
      const spec = bench.spec(await bench.bundle(code))
      const { dataFolder, instances: folder } = bench
      const task = JSON.stringify({ spec, dataFolder, folder, runner, sandbox })
      const argv = ['-c', 'exec 251>&1 "$@"', 'bash', process.execPath, starter, task]
      const child = spawn('/bin/bash', argv, { stdio: ['ignore', 'pipe', 'inherit'] })
      await once(child.stdout, 'data')
      child.kill('SIGKILL')
      // Nobody else holds it open.
      await once(child, 'close')
      const instance = await bench.engine.find(spec.settings.instanceId)
      if (instance === undefined) throw new Error('it was not found')
      await ready(instance)
      expect(await outputOf(instance)).toMatch(/^leads to \S*\/null$/m)
    })

    it('is found by its mark if the control plane was killed before it had written down its process', async () => {
      const instance = await bench.start('')
      await ready(instance)
      const path = join(bench.instances, instance.id, 'instance.json')
      const record = JSON.parse(await readFile(path, 'utf8'))
      await writeFile(path, JSON.stringify({ ...record, run: { ...record.run, process: null } }))
      const engine = await bench.again()
      const found = await engine.find(instance.id)
      if (found === undefined) throw new Error('it was not found')
      await found.stop(20_000)
      await instance.exited
      expect(await processesOfInstance(instance.id)).toEqual([])
      await engine.close()
    })

    it('is found if another version of the cloud has written down more of it', async () => {
      const instance = await bench.start('')
      const path = join(bench.instances, instance.id, 'instance.json')
      const record = JSON.parse(await readFile(path, 'utf8'))
      await writeFile(path, JSON.stringify({ ...record, more: 1, run: { ...record.run, more: 2 } }))
      const engine = await bench.again()
      expect(await engine.find(instance.id)).toBeDefined()
      await engine.remove(instance.id)
      await engine.close()
    })

    it('does not take another process that got its number for it', async () => {
      const instance = await bench.start('')
      await ready(instance)
      await instance.stop(20_000)
      const bystander = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' })
      const path = join(bench.instances, instance.id, 'instance.json')
      const record = JSON.parse(await readFile(path, 'utf8'))
      record.run.process.pid = bystander.pid
      await writeFile(path, JSON.stringify(record))
      const engine = await bench.again()
      const found = await engine.find(instance.id)
      await found?.exited
      await found?.stop(0)
      await engine.remove(instance.id)
      expect(bystander.exitCode ?? bystander.signalCode).toBeNull()
      const gone = once(bystander, 'exit')
      bystander.kill()
      await gone
      await engine.close()
    })

    it('works in a folder whose path is too long for sockets', async () => {
      await bench.close()
      bench = await InstanceBench.open({ runner, sandbox, below: 'a-long-name-with:a-colon/'.repeat(6) })
      const instance = await bench.start('')
      await ready(instance)
      const shortcut = JSON.parse(
        await readFile(join(bench.instances, instance.id, 'instance.json'), 'utf8'),
      ).shortcut
      expect((await stat(shortcut)).mode & 0o777).toBe(0o700)
      // Somebody sweeps the folder for temporary files.
      await rm(shortcut, { recursive: true })
      await ready(instance)
      expect((await stat(shortcut)).mode & 0o777).toBe(0o700)
      await rm(shortcut, { recursive: true })
      const engine = await bench.again()
      const found = await engine.find(instance.id)
      if (found === undefined) throw new Error('it was not found')
      await ready(found)
      await found.stop(20_000)
      await engine.remove(instance.id)
      expect(existsSync(shortcut)).toBe(false)
      await engine.close()
    })

    it('is reached by another way if somebody else has taken its own', async () => {
      await bench.close()
      bench = await InstanceBench.open({ runner, sandbox, below: 'a-long-name-with:a-colon/'.repeat(6) })
      const instance = await bench.start('')
      await ready(instance)
      const record = join(bench.instances, instance.id, 'instance.json')
      const shortcutNow = async () => JSON.parse(await readFile(record, 'utf8')).shortcut as string
      const taken = await shortcutNow()
      await rm(taken, { recursive: true })
      await writeFile(taken, 'of somebody else')
      await ready(instance)
      const own = dirname(dirname(instance.socketPath))
      expect(own).not.toBe(taken)
      const engine = await bench.again()
      const found = await engine.find(instance.id)
      if (found === undefined) throw new Error('it was not found')
      await ready(found)
      const other = await shortcutNow()
      expect(other).not.toBe(taken)
      await found.stop(20_000)
      await bench.engine.remove(instance.id)
      await engine.remove(instance.id)
      expect([found.socketPath, existsSync(own), existsSync(other)]).toEqual([
        join(other, 'i/socket'),
        false,
        false,
      ])
      expect(await readFile(taken, 'utf8')).toBe('of somebody else')
      await rm(taken)
      await engine.close()
    })

    it('counts as unknown if what was written down of it is damaged, and is ended when it is removed', async () => {
      const instance = await bench.start('')
      await ready(instance)
      await writeFile(join(bench.instances, instance.id, 'instance.json'), '{"version":')
      const engine = await bench.again()
      expect(await engine.find(instance.id)).toBeUndefined()
      await engine.remove(instance.id)
      expect(await processesOfInstance(instance.id)).toEqual([])
      expect(await engine.list()).toEqual([])
      await engine.close()
    })

    it('ends what was begun for one of which nothing is written down yet', async () => {
      const id = crypto.randomUUID()
      await InstanceFolder.make(bench.instances, id)
      const env = { ...process.env, [INSTANCE_ID_VARIABLE]: id }
      const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { env })
      const ended = once(child, 'exit')
      await until(async () => (await processesOfInstance(id)).length > 0, 'it to begin')
      expect(await bench.engine.find(id)).toBeUndefined()
      await bench.engine.remove(id)
      expect(await ended).toEqual([null, 'SIGKILL'])
      expect(await bench.engine.list()).toEqual([])
    })

    it('is left alone by a cloud whose data are a copy, with its folder or without', async () => {
      const instance = await bench.start('')
      await ready(instance)
      const other = await InstanceBench.open({ runner, sandbox })
      try {
        expect(await other.engine.find(instance.id)).toBeUndefined()
        await other.engine.remove(instance.id)
        await cp(join(bench.instances, instance.id), join(other.instances, instance.id), {
          recursive: true,
          filter: async (path) => !(await lstat(path)).isSocket(),
        })
        expect(await other.engine.list()).toEqual([instance.id])
        expect(await other.engine.find(instance.id)).toBeUndefined()
        await other.engine.remove(instance.id)
        expect(await other.engine.list()).toEqual([])
      } finally {
        await other.close()
      }
      expect((await new HttpInstanceClient().info(instance.socketPath)).instanceId).toBe(instance.id)
      const again = await bench.again()
      expect(await again.find(instance.id)).toBeDefined()
      await again.close()
    })

    it('removes what a bot has locked up', async () => {
      const instance = await bench.start('')
      await ready(instance)
      await instance.stop(20_000)
      const locked = join(bench.instances, instance.id, 'home/locked')
      await mkdir(join(locked, 'inside'), { recursive: true })
      await chmod(locked, 0)
      await bench.engine.remove(instance.id)
      expect(await readdir(bench.instances)).toEqual([])
    })

    it('knows nothing of what is no instance', async () => {
      expect(await bench.engine.find('../bundles')).toBeUndefined()
      expect(await bench.engine.find(crypto.randomUUID())).toBeUndefined()
      await bench.engine.remove('../bundles')
      expect(existsSync(join(bench.dataFolder, 'bundles'))).toBe(true)
    })
  })
}

it('refuses bundles that cannot be run here any more, and says why', async () => {
  const bench = await InstanceBench.open({ runner, sandbox: false })
  const { engine } = bench
  const artifact = await bench.bundle('')
  expect(await engine.refusal(artifact)).toBeUndefined()
  const folder = artifact.kind === 'bundle' ? artifact.folder : ''
  const manifest = await readBundle(folder)
  await writeBundle(folder, { ...manifest, node: '4.0.0' })
  expect(await engine.refusal(artifact)).toContain('made with Node 4.0.0')
  const python = { path: '.venv/bin/python', version: '3.11.2', base: '/nowhere/python3' }
  await writeBundle(folder, { ...manifest, node: null, python })
  expect(await engine.refusal(artifact)).toContain('/nowhere/python3')
  await rm(folder, { recursive: true })
  expect(await engine.refusal(artifact)).toContain('gone or damaged')
  await expect(engine.start(bench.spec(artifact))).rejects.toThrow('ENOENT')
  expect(await engine.list()).toEqual([])
  await bench.close()
})

describe('limits', () => {
  it.each(sandboxes)('tell that an instance took too much memory, $name', async ({ sandbox, skipped }) => {
    if (skipped !== undefined) return
    const bench = await InstanceBench.open({ runner, sandbox })
    try {
      if (bench.engine.description.includes('without limits')) return
      const hog = 'const all = []; for (;;) all.push(Buffer.alloc(8 * 1024 * 1024, 1))'
      const limits = { memoryBytes: 96 * 1024 * 1024, cpus: 1 }
      const instance = await bench.start(hog, { limits })
      expect(await instance.exited).toEqual({ code: null, signal: 'SIGKILL', outOfMemory: true })
    } finally {
      await bench.close()
    }
  })
})
