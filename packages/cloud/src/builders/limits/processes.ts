import { readdir, readFile } from 'node:fs/promises'

/** A line of the table of processes. */
export interface ProcessRow {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly residentBytes: number
}

/** Every process of a build has it in its environment, so that it is found again after the control plane was killed. */
export const BUILD_VARIABLE = 'BOTCLI_BUILD'
const PAGE = 4096

/** All processes of this machine; none where there is no `/proc`. */
export async function processTable(): Promise<readonly ProcessRow[]> {
  const rows = await Promise.all((await processIds()).map(readRow))
  return rows.flatMap((row) => row ?? [])
}

/** A process, its descendants, and whoever is in the group of one of them. */
export function familyOf(table: readonly ProcessRow[], roots: ReadonlySet<number>): readonly ProcessRow[] {
  const family = new Set(roots)
  for (let size = -1; size !== family.size; ) {
    size = family.size
    for (const { pid, parent, group } of table) if (family.has(parent) || family.has(group)) family.add(pid)
  }
  return table.filter(({ pid }) => family.has(pid))
}

/** The processes of a build, by their environment. */
export async function processesOf(buildId: string): Promise<readonly number[]> {
  return await processesWith(`${BUILD_VARIABLE}=${buildId}`)
}

/** The processes that were started with a variable in their environment, given as `NAME=value`. */
export async function processesWith(mark: string): Promise<readonly number[]> {
  const found = await Promise.all(
    (await processIds()).map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')
      return environment.split('\0').includes(mark) ? [pid] : []
    }),
  )
  return found.flat()
}

/** Ends the processes of a build and their descendants until none is left. */
export async function killProcessesOf(buildId: string): Promise<void> {
  await killAll(async () => {
    const marked = new Set(await processesOf(buildId))
    // An engine gives what it runs an environment of its own.
    return marked.size === 0 ? [] : familyOf(await processTable(), marked).map(({ pid }) => pid)
  })
}

/** Ends whatever a list names until it names nothing more; what forks meanwhile is on the next list. */
export async function killAll(list: () => Promise<readonly number[]>): Promise<void> {
  for (let round = 0; round < 100; round += 1) {
    const pids = await list()
    if (pids.length === 0) return
    for (const pid of pids) kill(pid)
    await new Promise((resolve) => setTimeout(resolve, Math.min(50, 2 * round)))
  }
}

/** Ends a process, or with a negative number a group, if it is there. */
export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended by itself.
  }
}

async function processIds(): Promise<readonly number[]> {
  const names = await readdir('/proc').catch(() => [])
  return names.filter((name) => /^\d+$/.test(name)).map(Number)
}

async function readRow(pid: number): Promise<ProcessRow | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined)
  // The name in parentheses may hold anything, so what counts comes after the last one.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ')
  if (fields === undefined || fields[0] === 'Z') return undefined
  return {
    pid,
    parent: Number(fields[1]),
    group: Number(fields[2]),
    residentBytes: Number(fields[21]) * PAGE,
  }
}
