import { Client } from './client.mjs'
import { treeMemory } from './processes.mjs'
import { startBare, startOurs, startPeer } from './servers.mjs'
import { sleep } from './wait.mjs'
import { quietWindow } from './window.mjs'

const COUNTS = [1, 10, 25]
/** Below this share of its audio a server is overloaded, and its CPU says nothing about a session. */
const ALL_AUDIO = 0.98

/** CPU, memory and sound of many calls at once, with speech both ways all the time. */
export const load = {
  title: 'many calls',
  /** @param {import('./main.mjs').Bench} bench */
  async run({ quick, peer, note }) {
    const window = quick ? { settleMs: 1500, ms: 4000 } : { settleMs: 3000, ms: 10_000 }
    const rows = []
    for (const count of COUNTS) {
      const ours = await measure(await startOurs(), count, window)
      const bare = await measure(await startBare('echo-server', { args: ['--codec'] }), count, window)
      const theirs = peer && (await measure(await startPeer(peer), count, window))
      for (const [who, found] of Object.entries({ ours, bare, peer: theirs })) {
        if (found !== undefined) note(describe(who, count, found))
      }
      rows.push(...rowsOf(count, ours, bare, theirs))
    }
    return rows
  },
}

function rowsOf(count, ours, bare, theirs) {
  const calls = count === 1 ? '1 call' : `${count} calls`
  return [
    {
      name: `CPU a call, ${calls}`,
      unit: '% core',
      ours: ours.cpu,
      bare: bare.cpu,
      peer: theirs?.cpu,
      // A server that loses sound saves the work for it.
      peerOverloaded: theirs !== undefined && theirs.heard < ALL_AUDIO,
      target: { peerShare: 0.25, atMost: 4 },
    },
    {
      name: `memory a call, ${calls}`,
      unit: 'MB',
      ours: ours.memory,
      bare: bare.memory,
      peer: theirs?.memory,
    },
    {
      name: `audio that came back, ${calls}`,
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

function describe(who, count, { alive, worst, sent, foreign, idle, complaint }) {
  const percent = (share) => `${(share * 100).toFixed(1)} %`
  const facts = [
    `worst call heard ${percent(worst)}`,
    `generator sent ${percent(sent)}`,
    `${foreign.toFixed(1)} cores taken by other work`,
    `${idle.toFixed(0)} MB without a call`,
  ]
  if (alive < count) facts.unshift(`only ${alive} calls came to life: ${complaint}`)
  return `${who}, ${count} at once: ${facts.join(', ')}`
}
