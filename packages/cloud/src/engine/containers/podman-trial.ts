import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { askProgram } from '../../builders/ask-program.ts'

/** What podman has to be told on a machine so that containers run. */
export interface PodmanOptions {
  /** Before the command. */
  readonly global: readonly string[]
  /** After `run`. */
  readonly run: readonly string[]
  /** Whether memory and processors can be limited. */
  readonly limits: boolean
}

const TRIAL_MS = 30_000
const ENOUGH = 20_000
const SHOWN = ['/usr', '/bin', '/lib', '/lib64']
const LIMITS = ['--memory', '64m', '--memory-swap', '64m', '--cpus', '0.5']
/** Its own settings first; then for machines without systemd, and for those whose control groups the usual runtime does not know. */
const GLOBALS = [
  [],
  ['--cgroup-manager', 'cgroupfs'],
  ['--runtime', 'runc'],
  ['--runtime', 'runc', '--cgroup-manager', 'cgroupfs'],
]

/**
 * Finds out by running `true` of this machine in a container, for the reasons why podman does not run one are many. A machine on which
 * nothing works gets podman's own settings; then the first instance tells why.
 */
export async function tryPodman(command: readonly string[], scratch: string): Promise<PodmanOptions> {
  const root = join(scratch, 'trial')
  for (const folder of SHOWN) await mkdir(join(root, folder), { recursive: true })
  const works = async (global: readonly string[], run: readonly string[]): Promise<boolean> => {
    const argv = [
      ...[...command, ...global, 'run', '--rm', '--network', 'host', '--log-driver', 'none', ...run],
      ...SHOWN.flatMap((folder) => ['--volume', `${folder}:${folder}:ro`]),
      ...['--rootfs', root, '/usr/bin/true'],
    ]
    return (await askProgram(argv, { timeoutMs: TRIAL_MS })).status === 0
  }
  // Where the limits of this process may not be raised, the usual ones of containers cannot be set.
  for (const run of [[], await ownLimits()])
    for (const global of GLOBALS) {
      if (!(await works(global, run))) continue
      const init = (await works(global, [...run, '--init'])) ? ['--init'] : []
      return { global, run: [...run, ...init], limits: await works(global, [...run, ...LIMITS]) }
    }
  return { global: [], run: [], limits: true }
}

/** Limits that this process may give on: not more than it has itself, and not more than podman leaves of that. */
async function ownLimits(): Promise<readonly string[]> {
  const text = await readFile('/proc/self/limits', 'latin1').catch(() => '')
  return [
    ['nofile', 'Max open files'],
    ['nproc', 'Max processes'],
  ].flatMap(([name, words]) => {
    const hard = new RegExp(`^${words}\\s+\\S+\\s+(\\d+)`, 'm').exec(text)?.[1]
    const limit = Math.min(Number(hard ?? ENOUGH), ENOUGH)
    return ['--ulimit', `${name}=${limit}:${limit}`]
  })
}
