import { Client } from './client.mjs'
import { startBare, startOurs, startPeer } from './servers.mjs'

const CONNECTIONS = 10
/** Each makes a session that waits for its caller, and a runner takes at most 10,000 of them. */
const WARM_UP = 500
const COUNT = 9000

/** Sessions made by POST /start. */
export const start = {
  title: 'POST /start',
  /** @param {import('./main.mjs').Bench} bench */
  async run({ quick, peer, note }) {
    const limitMs = quick ? 1500 : 5000
    const ours = await measure(await startOurs({ args: ['--max-sessions', '10000'] }), limitMs)
    const bare = await measure(await startBare('http-server'), limitMs)
    const theirs = peer && (await measure(await startPeer(peer), limitMs))
    for (const [who, found] of Object.entries({ ours, bare, peer: theirs })) {
      if (found?.failures > 0) note(`${who}: ${found.failures} requests failed`)
    }
    return [
      {
        name: '/start a second',
        unit: 'req/s',
        ours: ours.perSecond,
        bare: bare.perSecond,
        peer: theirs?.perSecond,
        moreIsBetter: true,
      },
      { name: '/start, p99', unit: 'ms', ours: ours.p99, bare: bare.p99, peer: theirs?.p99 },
    ]
  },
}

/**
 * @param {import('./servers.mjs').Server} server
 * @param {number} limitMs
 */
async function measure(server, limitMs) {
  const client = new Client()
  const options = { url: `${server.url}/start`, body: { transport: 'webrtc' }, connections: CONNECTIONS }
  try {
    await client.ask('postMany', { ...options, count: WARM_UP, limitMs })
    return await client.ask('postMany', { ...options, count: COUNT, limitMs })
  } finally {
    await client.stop()
    await server.stop()
  }
}
