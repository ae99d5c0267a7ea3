import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from './client.mjs'
import { AgentCloud } from './cloud/agent-cloud.mjs'
import { startOurs } from './servers.mjs'
import { spread } from './stats.mjs'
import { sleep } from './wait.mjs'

const WARM_UP = 2
/** So that a spare bot is ready for each caller. */
const PAUSE_MS = 400
const ROUNDS = 10
/** One instance with two spare bots, as a runner has them. */
const SCALING = { minAgents: 1, maxAgents: 1, sessionsPerInstance: 10 }

/** A call through the cloud beside the same call to the same bot on the bare runner. The two take turns. */
export const cloudCall = {
  title: 'calls through the cloud',
  /** @param {import('./main.mjs').Bench} bench */
  async run({ quick }) {
    const folder = await mkdtemp(join(tmpdir(), 'botcli-bench-'))
    const client = new Client()
    let cloud
    let runner
    try {
      cloud = await AgentCloud.start(folder)
      await cloud.deploy('echo', SCALING)
      runner = await startOurs()
      const starts = {
        ours: { startUrl: `${cloud.url}/v1/public/echo/start`, key: cloud.keys.publicKey },
        bare: { startUrl: `${runner.url}/start` },
      }
      return [
        ...(await startRows(client, starts, quick ? 12 : 100)),
        ...(await proxyRows(client, cloud, starts.ours, quick ? 50 : 300)),
        ...(await relayRows(client, starts, quick ? 50 : 300)),
      ]
    } finally {
      await client.stop()
      await runner?.stop()
      await cloud?.stop()
      await rm(folder, { recursive: true, force: true })
    }
  },
}

/** From the start of a session until the bot has given the first message back. */
async function startRows(client, starts, count) {
  const times = { ours: [], bare: [] }
  for (let index = 0; index < count + WARM_UP; index += 1) {
    for (const [who, start] of Object.entries(starts)) {
      const ms = await client.ask('visit', start)
      if (index >= WARM_UP) times[who].push(ms)
      await sleep(PAUSE_MS)
    }
  }
  return rowsOf('public start to bot', 'ms', times)
}

/** A request to a session, beside the same one to the socket of its instance. */
async function proxyRows(client, cloud, start, count) {
  const sessionId = await client.ask('stay', { name: 'proxied', ...start })
  const [instance] = await cloud.instances()
  // The instance knows this path only for other methods, and says so at once.
  const path = `/sessions/${sessionId}/api/offer`
  const asks = {
    ours: { url: `${cloud.url}/v1/public/echo${path}`, key: start.key, count },
    bare: { url: `http://localhost${path}`, socketPath: join(instance, 'socket'), count },
  }
  const times = await inTurns((who) => client.ask('getOften', asks[who]))
  await client.ask('leave', { name: 'proxied' })
  return rowsOf('proxied request', 'us', times)
}

/** A frame there and back, through the relay and to the runner. */
async function relayRows(client, starts, count) {
  const rows = []
  for (const [who, start] of Object.entries(starts)) await client.ask('stay', { name: who, ...start })
  for (const [what, name] of Object.entries({ exchange: 'WebSocket message', ping: 'WebSocket ping' })) {
    const times = await inTurns((who) => client.ask('bounce', { name: who, what, count }))
    rows.push(...rowsOf(`${name} and back`, 'us', times))
  }
  for (const who of Object.keys(starts)) await client.ask('leave', { name: who })
  return rows
}

/**
 * Both in turns, so that whatever else the machine does falls on both alike. The first round does not count.
 * @param {(who: 'ours' | 'bare') => Promise<number[]>} measure
 */
async function inTurns(measure) {
  const times = { ours: [], bare: [] }
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const who of Object.keys(times)) {
      const found = await measure(who)
      if (round > 0) times[who].push(...found)
    }
  }
  return times
}

/**
 * @param {string} name
 * @param {'ms' | 'us'} unit
 * @param {{ ours: number[], bare: number[] }} times in milliseconds
 */
function rowsOf(name, unit, times) {
  const [ours, bare] = [spread(times.ours), spread(times.bare)]
  const scale = unit === 'us' ? 1000 : 1
  return ['p50', 'p99'].map((rank) => ({
    name: `${name}, ${rank}`,
    unit,
    ours: ours[rank] * scale,
    bare: bare[rank] * scale,
  }))
}
