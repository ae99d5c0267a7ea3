import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from './client.mjs'
import { AgentCloud } from './cloud/agent-cloud.mjs'
import { cpuTime } from './processes.mjs'
import { startOurs } from './servers.mjs'

const CONNECTIONS = 10
const SCALING = { minAgents: 2, maxAgents: 2, sessionsPerInstance: 100 }

/** Sessions that are started and ended through the cloud, beside those of the bare runner. */
export const cloudSessions = {
  title: 'sessions of the cloud',
  /** @param {import('./main.mjs').Bench} bench */
  async run({ quick, note }) {
    const limitMs = quick ? 2000 : 10_000
    const ours = await throughCloud(limitMs, note)
    const bare = await atRunner(limitMs)
    for (const [who, { failures, failure }] of Object.entries({ ours, bare })) {
      if (failures > 0) note(`${who}: ${failures} sessions failed, such as ${failure}`)
    }
    const name = 'public start'
    return [
      {
        name: 'sessions started and ended',
        unit: '/s',
        ours: ours.perSecond,
        bare: bare.perSecond,
        moreIsBetter: true,
      },
      { name: `${name}, ${CONNECTIONS} at once, p50`, unit: 'ms', ours: ours.p50, bare: bare.p50 },
      { name: `${name}, ${CONNECTIONS} at once, p99`, unit: 'ms', ours: ours.p99, bare: bare.p99 },
    ]
  },
}

async function throughCloud(limitMs, note) {
  const folder = await mkdtemp(join(tmpdir(), 'botcli-bench-'))
  let cloud
  try {
    cloud = await AgentCloud.start(folder)
    await cloud.deploy('echo', SCALING)
    const { publicKey, privateKey } = cloud.keys
    const before = cpuTime(cloud.pid)
    const begin = performance.now()
    const found = await measure(limitMs, {
      start: { url: `${cloud.url}/v1/public/echo/start`, key: publicKey },
      stop: { url: `${cloud.url}/v1/agents/echo/sessions/`, key: privateKey },
    })
    const cores = (cpuTime(cloud.pid) - before) / 1000 / (performance.now() - begin)
    note(`sessions: the control plane took ${(cores * 100).toFixed(0)} % of a core`)
    return found
  } finally {
    await cloud?.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function atRunner(limitMs) {
  const runner = await startOurs({ args: ['--max-sessions', '200'] })
  try {
    return await measure(limitMs, {
      start: { url: `${runner.url}/start` },
      stop: { url: `${runner.url}/sessions/` },
    })
  } finally {
    await runner.stop()
  }
}

/**
 * @param {number} limitMs
 * @param {{ start: object, stop: object }} addresses
 */
async function measure(limitMs, addresses) {
  const client = new Client()
  const options = { ...addresses, connections: CONNECTIONS }
  try {
    await client.ask('startAndStop', { ...options, limitMs: 1000 })
    return await client.ask('startAndStop', { ...options, limitMs })
  } finally {
    await client.stop()
  }
}
