import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CageMaker } from './cage.ts'
import { CgroupV1 } from './cgroup-v1.ts'
import { findLimiter } from './find-limiter.ts'
import { folderSize } from './folder-size.ts'
import { type LimitedCommand, Limiter } from './limiter.ts'
import { processesOf } from './processes.ts'
import { Watchdog } from './watchdog.ts'

const MIB = 1024 * 1024
const LIMITS = { seconds: 60, memoryBytes: 200 * MIB, processes: 30, diskBytes: 20 * MIB }
const HOG = 'const a = []; setInterval(() => a.push(Buffer.alloc(20 * 1024 * 1024, 1)), 5)'

let folder: string
let buildId: string
let text: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'botcli-limits-'))
  buildId = crypto.randomUUID()
  text = ''
})
afterEach(async () => {
  expect(await processesOf(buildId)).toEqual([])
  await rm(folder, { recursive: true, force: true })
})

const membership = await readFile('/proc/self/cgroup', 'utf8').catch(() => '')
const v1 = await CgroupV1.find({ mount: '/sys/fs/cgroup', membership })
const makers: readonly CageMaker[] = [
  new Watchdog({ prlimit: true }),
  new Watchdog({ prlimit: false }),
  ...('unavailable' in v1 ? [] : [v1]),
]

describe.each(makers.map((maker, index) => [`${maker.name} (${index})`, maker] as const))(
  '%s',
  (_, cages) => {
    const limiter = new Limiter({ cages, bwrap: undefined, prlimit: true, notes: [] })

    async function run(
      argv: readonly string[],
      options: {
        limits?: Partial<typeof LIMITS>
        signal?: AbortSignal
        onOutput?: () => void
        cwd?: string
      } = {},
    ) {
      const held = await limiter.open({
        buildId,
        limits: { ...LIMITS, ...options.limits },
        signal: options.signal ?? new AbortController().signal,
        disk: async () => await folderSize(folder),
      })
      const command: LimitedCommand = {
        argv,
        cwd: options.cwd ?? folder,
        env: { PATH: process.env.PATH ?? '' },
        output: (bytes) => {
          text += Buffer.from(bytes).toString()
          options.onOutput?.()
        },
      }
      try {
        return await held.run(command)
      } finally {
        await held.close()
      }
    }

    it('gives the output and the status of a command', async () => {
      expect(await run(['sh', '-c', 'echo out; echo err >&2; exit 7'])).toEqual({
        status: 7,
        ended: 'itself',
      })
      expect(text.split('\n').toSorted()).toEqual(['', 'err', 'out'])
    })

    it('says when a command has no folder to run in', async () => {
      const end = await run(['true'], { cwd: join(folder, 'nope') })
      expect(end).toMatchObject({ status: 127, ended: 'itself' })
      expect(text).toBe('true: the folder that it is to run in is not there\n')
    })

    it('says when a command cannot be started', async () => {
      const end = await run(['no-such-command-here'])
      expect(end.ended).toBe('itself')
      expect(end.status).not.toBe(0)
      expect(text).toContain('no-such-command-here')
    })

    it('ends the whole family on an abort, also those who left the group', async () => {
      const controller = new AbortController()
      const script = 'sh -c "sleep 300" & setsid sleep 301 & (sleep 302 &) ; echo ready; sleep 303'
      const end = await run(['sh', '-c', script], {
        signal: controller.signal,
        onOutput: () => controller.abort(),
      })
      expect(end.ended).toBe('aborted')
    })

    it('ends what a command leaves behind when it is over', async () => {
      expect(await run(['sh', '-c', 'setsid sleep 300 & sleep 301 & echo started'])).toEqual({
        status: 0,
        ended: 'itself',
      })
      expect(text).toBe('started\n')
    })

    it('does not start anything once it was aborted', async () => {
      expect((await run(['sh', '-c', 'echo no'], { signal: AbortSignal.abort() })).ended).toBe('aborted')
      expect(text).toBe('')
    })

    it('ends a command whose time is up', async () => {
      expect((await run(['sh', '-c', 'sleep 300 & sleep 300'], { limits: { seconds: 0.3 } })).ended).toBe(
        'time',
      )
    })

    it('ends a command that takes too much memory', async () => {
      const end = await run([process.execPath, '-e', HOG])
      // Where each process has a limit of its own, it may come first: then the process says so itself.
      if (end.ended === 'itself') expect(text).toMatch(/out of memory|ENOMEM|allocat/i)
      else expect(end.ended).toBe('memory')
    })

    it('counts memory of all processes together', async () => {
      const part = 'const a = Buffer.alloc(60 * 1024 * 1024, 1); setTimeout(() => {}, 60000)'
      const script = `for i in 1 2 3 4 5; do ${JSON.stringify(process.execPath)} -e '${part}' & done; wait; exit 1`
      expect((await run(['sh', '-c', script])).ended).toBe('memory')
    })

    it('holds the number of processes', async () => {
      const script = 'i=0; while [ $i -lt 60 ]; do sleep 300 & i=$((i+1)); done; echo all of them; wait'
      const end = await run(['sh', '-c', script], { limits: { seconds: 5, processes: 30 } })
      if (end.ended === 'processes') return
      // The kernel refuses the next one instead.
      expect(text).toMatch(/fork/i)
      expect(text).not.toContain('all of them')
    })

    it('ends a command that takes too much disk', async () => {
      const script = 'i=0; while true; do head -c 1000000 /dev/zero > f$i; i=$((i+1)); sleep 0.01; done'
      expect((await run(['sh', '-c', script])).ended).toBe('disk')
    })

    it('refuses one file that is larger than the disk limit', async () => {
      const end = await run(['sh', '-c', 'head -c 40000000 /dev/zero > big'])
      expect(end.status === 0 && end.ended === 'itself').toBe(false)
      expect(await folderSize(folder)).toBeLessThan(21 * MIB)
    })

    it('cleans up after an owner that was killed', async () => {
      const held = await limiter.open({
        buildId,
        limits: LIMITS,
        signal: new AbortController().signal,
        disk: async () => 0,
      })
      let ready = (): void => {}
      const started = new Promise<void>((resolve) => {
        ready = resolve
      })
      const running = held.run({
        argv: ['sh', '-c', 'setsid sleep 300 & echo ready; sleep 301'],
        cwd: folder,
        env: { PATH: process.env.PATH ?? '' },
        output: () => ready(),
      })
      await started
      expect(await processesOf(buildId)).not.toEqual([])
      await limiter.cleanUp(buildId)
      expect(await processesOf(buildId)).toEqual([])
      await running
      await held.close()
    })
  },
)

it('finds the best way of this machine and says why not a better one', async () => {
  const limiter = await findLimiter()
  expect(limiter.description).toMatch(
    /^limits by (?:cgroup v[12]|systemd scope|a watchdog), (?:no sandbox|sandbox by bubblewrap)$/,
  )
  for (const note of limiter.notes) expect(note).toMatch(/cgroup|systemd|sandbox/)
})
