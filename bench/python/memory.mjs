import { fileURLToPath } from 'node:url'
import { Child } from '../children.mjs'
import { Client } from '../client.mjs'
import {
  commandOf,
  parentOf,
  privateMemory,
  processTree,
  proportionalMemory,
  treeMemory,
} from '../processes.mjs'
import { startPeer } from '../servers.mjs'
import { quantile } from '../stats.mjs'
import { sleep, until } from '../wait.mjs'
import { PACKAGE_ENV, pythonBots, startBot } from './bots.mjs'

const LOAD_BOT = fileURLToPath(new URL('../bare/load_bot.py', import.meta.url))
const GUESTS = 4
const PEER_CALLS = 10
const SETTLE_MS = 2000
/** Memory that has changed by less than this share in that time is that of processes that have loaded. */
const STEADY = 0.01

/** Private memory of one more Python bot that waits for its caller, beside one more call of the peer. */
export const pythonMemory = {
  title: 'Python: memory of a bot that waits',
  /** @param {import('../main.mjs').Bench} bench */
  async run({ peer, note }) {
    const rows = []
    const theirs = peer && (await peerGrowth(peer))
    for (const bot of await pythonBots(peer)) {
      const forked = await ourGuests(bot, 'fork')
      const alone = await ourGuests(bot, 'fork', 1)
      const spawned = await ourGuests(bot, 'spawn')
      const more = (forked.all - alone.all) / (GUESTS - 1)
      note(`${bot.name}: one more forked guest adds ${more.toFixed(1)} MB to all its processes together`)
      rows.push(
        {
          name: `python private memory, forked, ${bot.name}`,
          unit: 'MB',
          ours: forked.one,
          bare: await bareGuests(bot, 'fork'),
          peer: theirs,
          target: { atMost: 20 },
        },
        {
          name: `python private memory, spawned, ${bot.name}`,
          unit: 'MB',
          ours: spawned.one,
          bare: await bareGuests(bot, 'spawn'),
        },
      )
    }
    return rows
  },
}

/** The private memory of a guest in the middle, and what all Python processes take together, in MB. */
export async function ourGuests(bot, start, count = GUESTS) {
  const server = await startBot(bot, ['--python-start', start, '--warm', String(count)])
  let last = 0
  const loaded = () => {
    const pythons = processTree(server.pid).filter((pid) => commandOf(pid).includes('botcli.guest'))
    const all = pythons.reduce((sum, pid) => sum + proportionalMemory(pid), 0)
    const isSteady = Math.abs(all - last) < STEADY * all
    last = all
    // A template is no guest. Its children look like it.
    const guests = start === 'fork' ? pythons.filter((pid) => pythons.includes(parentOf(pid))) : pythons
    return guests.length === count && isSteady && { one: quantile(guests.map(privateMemory), 0.5), all }
  }
  try {
    return await until('the guests to load', loaded, { limitMs: 60_000, everyMs: SETTLE_MS })
  } finally {
    await server.stop()
  }
}

/** Processes that have imported the same and do nothing; several, because they share the files of their libraries. */
async function bareGuests({ path, python, env }, start) {
  const [parents, forks] = start === 'fork' ? [1, GUESTS] : [GUESTS, 0]
  const options = { env: { ...PACKAGE_ENV, ...env } }
  const children = Array.from(
    { length: parents },
    () => new Child(python, [LOAD_BOT, path, String(forks)], options),
  )
  try {
    for (const child of children) await child.line((line) => line.includes('loadedAt') || undefined)
    await sleep(500)
    const trees = children.map(({ pid }) => processTree(pid))
    const pids = trees.flatMap(([parent, ...forked]) => (start === 'fork' ? forked : [parent]))
    return quantile(pids.map(privateMemory), 0.5)
  } finally {
    for (const child of children) child.kill()
  }
}

/** How much the peer's process grows with a call. It has no bots that wait. */
async function peerGrowth(peer) {
  const server = await startPeer(peer)
  const client = new Client()
  const call = () => client.ask('call', { url: server.url, wire: 'websocket' })
  try {
    // The first call loads what all calls share.
    await call()
    await sleep(SETTLE_MS)
    const before = treeMemory(server.pid)
    for (let index = 0; index < PEER_CALLS; index += 1) await call()
    await sleep(SETTLE_MS)
    return (treeMemory(server.pid) - before) / PEER_CALLS
  } finally {
    await client.stop()
    await server.stop()
  }
}
