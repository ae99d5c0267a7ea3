import { readdirSync, readFileSync } from 'node:fs'

/** Linux counts CPU time in hundredths of a second, whatever the kernel's own tick is. */
const TICKS_PER_SECOND = 100

/** @typedef {{ parent: number, ticks: number }} Stat */

/**
 * A process and everything that descends from it.
 * @param {number} root
 * @returns {number[]}
 */
export function processTree(root) {
  const parents = new Map()
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? readStat(Number(name)) : undefined
    if (stat !== undefined) parents.set(Number(name), stat.parent)
  }
  const tree = [root]
  for (let index = 0; index < tree.length; index += 1) {
    for (const [pid, parent] of parents) if (parent === tree[index]) tree.push(pid)
  }
  return tree
}

/**
 * Starts to measure the CPU of a tree of processes.
 * @param {number} root
 * @returns {() => { all: number, roles: Record<string, number> }} how much of one core the tree has used since, 1 being
 * all of it, and what each role has
 */
export function watchCpu(root) {
  const before = new Map(processTree(root).map((pid) => [pid, readStat(pid)?.ticks ?? 0]))
  const begin = performance.now()
  return () => {
    const seconds = (performance.now() - begin) / 1000
    const cpu = { all: 0, roles: {} }
    for (const pid of processTree(root)) {
      const ticks = Math.max(0, (readStat(pid)?.ticks ?? 0) - (before.get(pid) ?? 0))
      const cores = ticks / TICKS_PER_SECOND / seconds
      const role = pid === root ? 'runner' : roleOf(commandOf(pid))
      cpu.all += cores
      cpu.roles[role] = (cpu.roles[role] ?? 0) + cores
    }
    return cpu
  }
}

/** @param {string} command */
function roleOf(command) {
  if (command.includes('worker/main.js')) return 'media'
  return command.includes('guest') ? 'bots' : 'others'
}

/**
 * The CPU time that the threads of a process have used so far, in microseconds.
 * @param {number} pid
 */
export function cpuTime(pid) {
  const nanoseconds = readdirSync(`/proc/${pid}/task`).map((thread) =>
    Number((read(`/proc/${pid}/task/${thread}/schedstat`) ?? '0').split(' ')[0]),
  )
  return nanoseconds.reduce((sum, one) => sum + one, 0) / 1000
}

/**
 * Starts to measure how much of the whole machine is busy, all processes together.
 * @returns {() => number} cores in use since
 */
export function watchMachine() {
  const busy = () => {
    const [user, nice, system, , , irq, softIrq, steal] = readFileSync('/proc/stat', 'utf8')
      .split('\n')[0]
      .split(/\s+/)
      .slice(1)
      .map(Number)
    return user + nice + system + irq + softIrq + steal
  }
  const before = busy()
  const begin = performance.now()
  return () => (busy() - before) / TICKS_PER_SECOND / ((performance.now() - begin) / 1000)
}

/**
 * Memory of a tree of processes in MB; pages that several share are counted once.
 * @param {number} root
 */
export function treeMemory(root) {
  return processTree(root).reduce((sum, pid) => sum + proportionalMemory(pid), 0)
}

/**
 * Memory of a process in MB; of pages that several share it has its part.
 * @param {number} pid
 */
export function proportionalMemory(pid) {
  return readRollup(pid, 'Pss') / 1024
}

/**
 * Memory of a process in MB, with everything that it shares.
 * @param {number} pid
 */
export function residentMemory(pid) {
  return readRollup(pid, 'Rss') / 1024
}

/**
 * Memory in MB that only this process has, and that would be free without it.
 * @param {number} pid
 */
export function privateMemory(pid) {
  return (readRollup(pid, 'Private_Clean') + readRollup(pid, 'Private_Dirty')) / 1024
}

/**
 * The command line of a process; empty when it is gone.
 * @param {number} pid
 */
export function commandOf(pid) {
  return (read(`/proc/${pid}/cmdline`) ?? '').replaceAll('\0', ' ')
}

/** @param {number} pid */
export function parentOf(pid) {
  return readStat(pid)?.parent
}

/**
 * @param {number} pid
 * @returns {Stat | undefined} nothing when the process is gone
 */
function readStat(pid) {
  const text = read(`/proc/${pid}/stat`)
  if (text === undefined) return undefined
  // The name may hold spaces and brackets, so the fields are counted from its end.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) }
}

/**
 * @param {number} pid
 * @param {string} field
 */
function readRollup(pid, field) {
  const match = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(read(`/proc/${pid}/smaps_rollup`) ?? '')
  return match === null ? 0 : Number(match[1])
}

/** @param {string} path */
function read(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
