import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from './client.mjs'
import { startBare, startOurs, startPeer } from './servers.mjs'
import { spread } from './stats.mjs'
import { sleep, until } from './wait.mjs'

const WARM_UP = 2
const PAUSE_MS = 400
const BARE = { webrtc: 'echo-server', websocket: 'http-server' }

/** From the connection of a caller to the call of `bot()`, with a spare bot waiting and without. */
export const botCall = {
  title: 'connection to bot()',
  /** @param {import('./main.mjs').Bench} bench */
  async run({ quick, peer }) {
    const runs = quick ? 3 : 12
    const rows = []
    for (const wire of ['webrtc', 'websocket']) {
      for (const cold of [false, true]) {
        const ours = await timeCalls(wire, runs, (env) =>
          startOurs({ bot: 'bot', args: cold ? ['--warm', '0'] : [], env }),
        )
        const bare = await timeCalls(wire, runs, (env) =>
          startBare(BARE[wire], { args: cold ? ['--cold'] : [], env }),
        )
        // The peer runs all bots in its one process, so it has no cold start for each call.
        const theirs = peer && !cold && (await timeCalls(wire, runs, (env) => startPeer(peer, { env })))
        const name = `${wire} to bot(), ${cold ? 'cold' : 'warm'}`
        for (const rank of ['p50', 'p95']) {
          const peerTime = theirs ? theirs[rank] : undefined
          rows.push({
            name: `${name}, ${rank}`,
            unit: 'ms',
            ours: ours[rank],
            bare: bare[rank],
            peer: peerTime,
          })
        }
      }
    }
    return rows
  },
}

/**
 * Times of the calls of a bot that writes them down, in milliseconds from the connection.
 * @param {string} wire
 * @param {number} runs
 * @param {(env: Record<string, string>) => Promise<import('./servers.mjs').Server>} start
 */
export async function timeCalls(wire, runs, start) {
  const folder = await mkdtemp(join(tmpdir(), 'botcli-bench-'))
  const file = join(folder, 'calls')
  const client = new Client()
  let server
  try {
    server = await start({ BENCH_CALLS: file })
    const times = []
    for (let index = 0; index < runs + WARM_UP; index += 1) {
      const sentAt = BigInt(await client.ask('call', { url: server.url, wire }))
      const calledAt = await until('the bot to be called', async () => (await readCalls(file))[index])
      if (index >= WARM_UP) times.push(Number(calledAt - sentAt) / 1e6)
      await client.ask('closeAll')
      await sleep(PAUSE_MS)
    }
    return spread(times)
  } finally {
    await client.stop()
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

/** @param {string} file */
async function readCalls(file) {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text.split('\n').filter(Boolean).map(BigInt)
}
