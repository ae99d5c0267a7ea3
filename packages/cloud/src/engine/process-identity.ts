import { readFileSync } from 'node:fs'
import * as z from 'zod'

/** A process, told apart from one that got the same number later. */
export const processIdentity = z.object({
  pid: z.int().min(1),
  /** Which start of the machine, and when after it; empty where the system does not say. */
  started: z.string(),
})
export type ProcessIdentity = z.infer<typeof processIdentity>

/** The process that has this number now, if there is one. One that has ended and was not buried yet does not count. */
export function identify(pid: number): ProcessIdentity | undefined {
  if (process.platform !== 'linux') return exists(pid) ? { pid, started: '' } : undefined
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name in parentheses may hold anything, so what counts comes after the last one.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined
    return { pid, started: `${bootId()} ${fields[19]}` }
  } catch {
    return undefined
  }
}

/** Whether this very process is still running. */
export function isRunning({ pid, started }: ProcessIdentity): boolean {
  return identify(pid)?.started === started
}

/** Sends a signal, if the process is still there. */
export function signalTo(identity: ProcessIdentity, signal: NodeJS.Signals): void {
  if (!isRunning(identity)) return
  try {
    process.kill(identity.pid, signal)
  } catch {
    // It ended by itself.
  }
}

let boot: string | undefined

/** Ticks are counted from the start of the machine, so they say nothing without it. */
function bootId(): string {
  boot ??= readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  return boot
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
