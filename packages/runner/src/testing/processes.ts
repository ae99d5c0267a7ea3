import { readdirSync, readFileSync } from 'node:fs'

/** The processes that a process has started, and whose command line holds a text. */
export function childrenOf(parent: number, text: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent && commandOf(pid).includes(text))
}

/** Whether a process is there and not a corpse. */
export function isAlive(pid: number): boolean {
  return parentOf(pid) !== undefined && !/\) Z /.test(stat(pid))
}

function parentOf(pid: number): number | undefined {
  const ppid = stat(pid).split(') ')[1]?.split(' ')[1]
  return ppid === undefined ? undefined : Number(ppid)
}

function stat(pid: number): string {
  return read(`/proc/${pid}/stat`)
}

function commandOf(pid: number): string {
  return read(`/proc/${pid}/cmdline`)
}

/** A process that ends while it is looked at counts as gone. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
