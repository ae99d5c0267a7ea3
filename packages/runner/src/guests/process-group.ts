/** Groups that have not ended. A runner that leaves in a hurry takes them along, however stuck they are. */
const live = new Set<number>()
process.on('exit', () => {
  for (const leader of live) signalGroup(leader, 'SIGKILL')
})

/** From now on this process and everything in its group end with the runner. */
export function trackGroup(leader: number): void {
  live.add(leader)
}

/** The process has ended; nothing of its group is left. */
export function endGroup(leader: number): void {
  send(-leader, 'SIGKILL')
  live.delete(leader)
}

/** Signals a process that lives, and everything that it started. */
export function signalGroup(leader: number, signal: NodeJS.Signals): void {
  // A process that has just been forked has no group of its own yet.
  if (!send(-leader, signal) && live.has(leader)) send(leader, signal)
}

/** Whether there is such a process, be it a corpse. */
export function isThere(pid: number): boolean {
  return send(pid, 0)
}

function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal)
    return true
  } catch (error) {
    // Who may not be signalled is there all the same.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
