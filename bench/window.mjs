import { watchCpu, watchMachine } from './processes.mjs'

/** Cores that other work may take while a window is measured, and how often to try for less. */
const QUIET = 0.2
const ATTEMPTS = 2

/**
 * Measures a server while a client does something. Other work on the machine spoils a window, so of a few the
 * quietest counts.
 * @template T
 * @param {import('./servers.mjs').Server} server
 * @param {import('./client.mjs').Client} client
 * @param {() => Promise<T>} act
 * @returns {Promise<T & { cpu: number, roles: Record<string, number>, foreign: number }>} with the cores that the
 * server, its roles and other work took
 */
export async function quietWindow(server, client, act) {
  let best
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const watches = { cpu: watchCpu(server.pid), client: watchCpu(client.pid), machine: watchMachine() }
    const seen = await act()
    const { all: cpu, roles } = watches.cpu()
    const foreign = Math.max(0, watches.machine() - cpu - watches.client().all)
    if (best === undefined || foreign < best.foreign) best = { ...seen, cpu, roles, foreign }
    if (foreign < QUIET) break
  }
  return best
}
