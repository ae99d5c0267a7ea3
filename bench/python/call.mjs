import { fileURLToPath } from 'node:url'
import { timeCalls } from '../bot-call.mjs'
import { Child } from '../children.mjs'
import { startBare, startPeer } from '../servers.mjs'
import { spread } from '../stats.mjs'
import { PACKAGE_ENV, pythonBots, startBot } from './bots.mjs'

const LOAD_BOT = fileURLToPath(new URL('../bare/load_bot.py', import.meta.url))
const BARE = { webrtc: 'echo-server', websocket: 'http-server' }
const WARM_MS = 50

/** What does not depend on our bot is measured once in a run. */
const known = new Map()

/** From the connection of a caller to the call of `bot()` in Python: with a spare bot, forked for it, started for it. */
export const pythonCall = {
  title: 'Python: connection to bot()',
  /** @param {import('../main.mjs').Bench} bench */
  async run({ quick, peer }) {
    const runs = quick ? 5 : 50
    // Each imports everything anew, which takes seconds.
    const spawns = quick ? 3 : 20
    const bots = await pythonBots(peer)
    const rows = await warmRows(bots, runs, peer)
    for (const bot of bots) {
      const name = (how) => `python websocket to bot(), ${how}, ${bot.name}`
      const time = (count, args) =>
        timeCalls('websocket', count, (env) => startBot(bot, ['--warm', '0', ...args], env))
      rows.push(...ranks(name('forked'), await time(runs, [])))
      const spawned = await time(spawns, ['--python-start', 'spawn'])
      rows.push(...ranks(name('spawned'), spawned, { bare: await timeLoads(bot, spawns) }))
    }
    return rows
  },
}

/**
 * Calls that find a spare bot, over both wires.
 * @param {readonly import('./bots.mjs').PythonBot[]} bots
 * @param {number} runs
 * @param {{ python: string } | undefined} peer
 */
export async function warmRows(bots, runs, peer) {
  const rows = []
  for (const wire of ['webrtc', 'websocket']) {
    if (!known.has(wire)) known.set(wire, await timeOthers(wire, runs, peer))
    // What a caller can rely on is the worst case.
    const others = { ...known.get(wire), p99: { target: { atMost: WARM_MS } } }
    for (const bot of bots) {
      const ours = await timeCalls(wire, runs, (env) => startBot(bot, [], env))
      rows.push(...ranks(`python ${wire} to bot(), warm, ${bot.name}`, ours, others))
    }
  }
  return rows
}

async function timeOthers(wire, runs, peer) {
  return {
    bare: await timeCalls(wire, runs, (env) => startBare(BARE[wire], { env })),
    peer: peer && (await timeCalls(wire, runs, (env) => startPeer(peer, { env }))),
  }
}

function ranks(name, ours, { bare, peer, ...more } = {}) {
  return ['p50', 'p99'].map((rank) => ({
    name: `${name}, ${rank}`,
    unit: 'ms',
    ours: ours[rank],
    bare: bare?.[rank],
    peer: peer?.[rank],
    ...more[rank],
  }))
}

/** A Python process that only imports the bot, from its start to the end of the import. */
async function timeLoads({ path, python, env }, runs) {
  const times = []
  for (let index = 0; index < runs; index += 1) {
    const begin = process.hrtime.bigint()
    const child = new Child(python, [LOAD_BOT, path], { env: { ...PACKAGE_ENV, ...env } })
    try {
      const loadedAt = await child.line((line) => /"loadedAt": "(\d+)"/.exec(line)?.[1])
      times.push(Number(BigInt(loadedAt) - begin) / 1e6)
    } finally {
      child.kill()
    }
  }
  return spread(times)
}
