import { readFile } from 'node:fs/promises'
import { askProgram } from '../ask-program.ts'
import type { CageMaker } from './cage.ts'
import { CgroupV1 } from './cgroup-v1.ts'
import { CgroupV2 } from './cgroup-v2.ts'
import { Limiter } from './limiter.ts'
import { type Ask, SystemdScope } from './systemd-scope.ts'
import { Watchdog } from './watchdog.ts'

const ASK_MS = 5000

/** Finds the best way to limit builds on this machine: cgroup v2, systemd, cgroup v1, a watchdog. */
export async function findLimiter(): Promise<Limiter> {
  const notes: string[] = []
  const prlimit = (await ask(['prlimit', '--version'])).status === 0
  const sandbox = await ask([
    'bwrap',
    '--ro-bind',
    '/',
    '/',
    '--dev',
    '/dev',
    '--proc',
    '/proc',
    '--unshare-pid',
    'true',
  ])
  if (sandbox.status !== 0)
    notes.push(
      `no sandbox: ${sandbox.text.trim().split('\n').at(-1) || 'bubblewrap (bwrap) does not work here'}`,
    )
  const cages = await findCages(prlimit, notes)
  return new Limiter({ cages, prlimit, notes, bwrap: sandbox.status === 0 ? 'bwrap' : undefined })
}

async function findCages(prlimit: boolean, notes: string[]): Promise<CageMaker> {
  const membership = await readFile('/proc/self/cgroup', 'utf8').catch(() => '')
  const mounts = await readFile('/proc/self/mounts', 'utf8').catch(() => '')
  const unified = /^\S+ (\S+) cgroup2 /m.exec(mounts)?.[1]
  const legacy = /^\S+ (\S+)\/memory cgroup \S*memory/m.exec(mounts)?.[1]
  const ways: (() => Promise<CageMaker | { readonly unavailable: string }>)[] = [
    async () =>
      unified === undefined
        ? { unavailable: 'cgroup v2 is not mounted' }
        : await CgroupV2.find({ mount: unified, membership, pid: process.pid }),
    async () => await SystemdScope.find(ask, process.getuid?.() === 0),
    async () =>
      legacy === undefined
        ? { unavailable: 'cgroup v1 is not mounted' }
        : await CgroupV1.find({ mount: legacy, membership }),
  ]
  for (const way of ways) {
    const found = await way()
    if (!('unavailable' in found)) return found
    notes.push(found.unavailable)
  }
  return new Watchdog({ prlimit })
}

const ask: Ask = async (argv) => {
  const answer = await askProgram(argv, { timeoutMs: ASK_MS })
  return { status: answer.status ?? 127, text: answer.stdout + answer.stderr }
}
