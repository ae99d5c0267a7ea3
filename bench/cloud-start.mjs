import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Child } from './children.mjs'
import { commandTime } from './command-time.mjs'
import { residentMemory } from './processes.mjs'
import { BOTCLI, Server, urlOf } from './servers.mjs'
import { spread } from './stats.mjs'
import { sleep } from './wait.mjs'

/** After this long nothing of the start is going on any more. */
const IDLE_MS = 2000

/** `botcli cloud` as a user starts it, on a new folder and on the same again. */
export const cloudStart = {
  title: 'start of the cloud',
  /** @param {import('./main.mjs').Bench} bench */
  async run({ quick }) {
    const runs = quick ? 3 : 10
    const found = { first: [], later: [], bare: [], memory: [] }
    for (let index = 0; index < runs; index += 1) {
      const home = await mkdtemp(join(tmpdir(), 'botcli-bench-'))
      try {
        found.bare.push(await commandTime(process.execPath, ['-e', '0']))
        found.first.push(await startTime(home))
        found.later.push(await startTime(home, index > 0 ? undefined : found.memory))
      } finally {
        await rm(home, { recursive: true, force: true })
      }
    }
    const bare = spread(found.bare).p50
    const target = { atMost: 1000 }
    return [
      { name: 'botcli cloud serves, first start', unit: 'ms', ours: spread(found.first).p50, bare, target },
      { name: 'botcli cloud serves, later start', unit: 'ms', ours: spread(found.later).p50, bare, target },
      { name: 'botcli cloud, idle memory', unit: 'MB', ours: found.memory[0], target: { atMost: 150 } },
    ]
  },
}

/**
 * From the start of the command until a request is answered.
 * @param {string} home where it keeps everything
 * @param {number[]} [memory] takes what it needs when nobody asks for anything
 */
async function startTime(home, memory) {
  const env = { HOME: home, XDG_CONFIG_HOME: join(home, 'config'), XDG_DATA_HOME: join(home, 'data') }
  const begin = performance.now()
  const child = new Child(process.execPath, [BOTCLI, 'cloud', '--port', '0'], { env })
  try {
    const server = new Server(child, await child.line(urlOf))
    const response = await fetch(`${server.url}/healthz`, { signal: AbortSignal.timeout(30_000) })
    if (!response.ok) throw new Error(`The cloud is not well: ${await response.text()}`)
    const ms = performance.now() - begin
    if (memory !== undefined) {
      await sleep(IDLE_MS)
      memory.push(residentMemory(server.pid))
    }
    return ms
  } finally {
    await child.stop()
  }
}
