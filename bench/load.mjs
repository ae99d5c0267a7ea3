import { Client } from './client.mjs'
import { treeMemory } from './processes.mjs'
import { startBare, startOurs, startPeer } from './servers.mjs'
import { sleep } from './wait.mjs'
import { quietWindow } from './window.mjs'

const COUNTS = [1, 10, 25]
/** Below this share of its audio a server is overloaded, and its CPU says nothing about a session. */
const ALL_AUDIO = 0.98

/** A share of the peer's CPU, or without it a number. */
const CPU_TARGET = { peerShare: 0.25, atMost: 4 }

/** What does not depend on our bot is measured once in a run, and serves all benchmarks of this file. */
const known = new Map()

/** CPU, memory and sound of many calls at once, with speech both ways all the time. */
export const load = {
  title: 'many calls',
  /** @param {import('./main.mjs').Bench} bench */
  run: (bench) =>
    loadRows(bench, { prefix: '', counts: COUNTS, target: CPU_TARGET, start: () => startOurs() }),
}

/** The same with the echo bot in Python. */
export const pythonLoad = {
  title: 'Python: many calls',
  /** @param {import('./main.mjs').Bench} bench */
  run: (bench) => {
    const start = () => startOurs({ bot: '../examples/echo-python' })
    return loadRows(bench, { prefix: 'python ', counts: COUNTS, target: CPU_TARGET, start })
  },
}

/**
 * A server of ours under load, beside the others.
 * @param {import('./main.mjs').Bench} bench
 * @param {object} ours
 * @param {string} ours.prefix of the rows' names
 * @param {readonly number[]} ours.counts
 * @param {import('./table.mjs').Row['target']} [ours.target] of the CPU
 * @param {() => Promise<import('./servers.mjs').Server>} ours.start
 */
export async function loadRows({ quick, peer, note }, { prefix, counts, target, start }) {
  const window = quick ? { settleMs: 1500, ms: 4000 } : { settleMs: 3000, ms: 10_000 }
  const others = { bare: () => startBare('echo-server', { args: ['--codec'] }) }
  if (peer !== undefined) others.peer = () => startPeer(peer)
  const rows = []
  for (const count of quick ? counts.slice(-1) : counts) {
    const ours = await measure(await start(), count, window)
    note(describe(`${prefix}ours`, count, ours))
    const found = {}
    for (const [who, startOther] of Object.entries(others)) {
      const key = `${who}, ${count}`
      if (!known.has(key)) {
        known.set(key, await measure(await startOther(), count, window))
        note(describe(who, count, known.get(key)))
      }
      found[who] = known.get(key)
    }
    rows.push(...rowsOf({ prefix, count, target }, ours, found.bare, found.peer))
  }
  return rows
}

function rowsOf({ prefix, count, target }, ours, bare, theirs) {
  const calls = count === 1 ? '1 call' : `${count} calls`
  return [
    {
      name: `${prefix}CPU a call, ${calls}`,
      unit: '% core',
      ours: ours.cpu,
      bare: bare.cpu,
      peer: theirs?.cpu,
      // A server that loses sound saves the work for it.
      peerOverloaded: theirs !== undefined && theirs.heard < ALL_AUDIO,
      target,
    },
    {
      name: `${prefix}memory a call, ${calls}`,
      unit: 'MB',
      ours: ours.memory,
      bare: bare.memory,
      peer: theirs?.memory,
    },
    {
      name: `${prefix}audio that came back, ${calls}`,
      unit: '%',
      ours: ours.heard * 100,
      bare: bare.heard * 100,
      peer: theirs && theirs.heard * 100,
      target: { atLeast: 99.5 },
      noRatio: true,
    },
  ]
}

/**
 * @param {import('./servers.mjs').Server} server
 * @param {number} count
 * @param {{ settleMs: number, ms: number }} window
 */
async function measure(server, count, { settleMs, ms }) {
  const client = new Client()
  try {
    await sleep(1000)
    const idle = treeMemory(server.pid)
    const alive = await client.ask('open', { url: server.url, count }, 180_000)
    await sleep(settleMs)
    const { cpu, ...seen } = await quietWindow(server, client, () => client.ask('measure', { ms }))
    const memory = (treeMemory(server.pid) - idle) / count
    const complaint = client.lastWords
    return { ...seen, alive, idle, memory, complaint, cpu: (cpu * 100) / count }
  } finally {
    await client.stop()
    await server.stop()
  }
}

function describe(who, count, { alive, worst, sent, foreign, roles, idle, complaint }) {
  const percent = (share) => `${(share * 100).toFixed(1)} %`
  const shares = Object.entries(roles).map(([role, cores]) => `${role} ${percent(cores / count)}`)
  const facts = [
    `a call: ${shares.join(', ')}`,
    `worst call heard ${percent(worst)}`,
    `generator sent ${percent(sent)}`,
    `${foreign.toFixed(1)} cores taken by other work`,
    `${idle.toFixed(0)} MB without a call`,
  ]
  if (alive < count) facts.unshift(`only ${alive} calls came to life: ${complaint}`)
  return `${who}, ${count} at once: ${facts.join(', ')}`
}
