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
  const sandbox = await findSandbox()
  if ('unavailable' in sandbox) notes.push(`no sandbox: ${sandbox.unavailable}`)
  const cages = (await findCages(['cgroup v2', 'systemd', 'cgroup v1'], notes)) ?? new Watchdog({ prlimit })
  return new Limiter({ cages, prlimit, notes, bwrap: 'bwrap' in sandbox ? sandbox.bwrap : undefined })
}

/** Looks whether bubblewrap works here. */
export async function findSandbox(): Promise<{ readonly bwrap: string } | { readonly unavailable: string }> {
  const { status, text } = await ask([
    ...['bwrap', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--unshare-pid', 'true'],
  ])
  if (status === 0) return { bwrap: 'bwrap' }
  return { unavailable: text.trim().split('\n').at(-1) || 'bubblewrap (bwrap) does not work here' }
}

/** A way to hold processes together that the kernel knows of. */
export type CageKind = 'cgroup v2' | 'systemd' | 'cgroup v1'

/** The first way that works here, and notes on why those before it do not. */
export async function findCages(kinds: readonly CageKind[], notes: string[]): Promise<CageMaker | undefined> {
  const membership = await readFile('/proc/self/cgroup', 'utf8').catch(() => '')
  const mounts = await readFile('/proc/self/mounts', 'utf8').catch(() => '')
  const unified = /^\S+ (\S+) cgroup2 /m.exec(mounts)?.[1]
  const legacy = /^\S+ (\S+)\/memory cgroup \S*memory/m.exec(mounts)?.[1]
  const ways: Readonly<Record<CageKind, () => Promise<CageMaker | { readonly unavailable: string }>>> = {
    'cgroup v2': async () =>
      unified === undefined
        ? { unavailable: 'cgroup v2 is not mounted' }
        : await CgroupV2.find({ mount: unified, membership, pid: process.pid }),
    systemd: async () => await SystemdScope.find(ask, process.getuid?.() === 0, process.env),
    'cgroup v1': async () =>
      legacy === undefined
        ? { unavailable: 'cgroup v1 is not mounted' }
        : await CgroupV1.find({ mount: legacy, membership }),
  }
  for (const kind of kinds) {
    const found = await ways[kind]()
    if (!('unavailable' in found)) return found
    notes.push(found.unavailable)
  }
  return undefined
}

const ask: Ask = async (argv) => {
  const answer = await askProgram(argv, { timeoutMs: ASK_MS })
  return { status: answer.status ?? 127, text: answer.stdout + answer.stderr }
}
