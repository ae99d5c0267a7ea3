import { Client } from './client.mjs'
import { startBare, startOurs, startPeer } from './servers.mjs'
import { spread } from './stats.mjs'
import { sleep } from './wait.mjs'

const WARM_UP = 2
/** Callers come one by one, so that a spare bot is ready for each. */
const PAUSE_MS = 400

/** From the offer to the first sound that comes back. */
export const offer = {
  title: 'offer to first audio',
  /** @param {import('./main.mjs').Bench} bench */
  async run({ quick, peer, note }) {
    const runs = quick ? 6 : 20
    const ours = await measure(await startOurs(), runs)
    const bare = await measure(await startBare('echo-server'), runs)
    const theirs = peer && (await measure(await startPeer(peer), runs, note))
    return [
      {
        name: 'offer to first audio, p50',
        unit: 'ms',
        ours: ours.p50,
        bare: bare.p50,
        peer: theirs?.p50,
        target: { peerShare: 0.5, atMost: 120 },
      },
      { name: 'offer to first audio, p95', unit: 'ms', ours: ours.p95, bare: bare.p95, peer: theirs?.p95 },
    ]
  },
}

/**
 * @param {import('./servers.mjs').Server} server
 * @param {number} runs
 * @param {(text: string) => void} [note]
 */
async function measure(server, runs, note) {
  const client = new Client()
  try {
    const times = []
    let failures = 0
    for (let index = 0; index < runs + WARM_UP; index += 1) {
      const time = await client.ask('firstAudio', { url: server.url }).catch((error) => {
        failures += 1
        if (note === undefined) throw error
      })
      if (index >= WARM_UP && time !== undefined) times.push(time)
      await sleep(PAUSE_MS)
    }
    if (failures > 0) note?.(`${failures} of ${runs + WARM_UP} calls to the peer brought no sound back`)
    return spread(times)
  } finally {
    await client.stop()
    await server.stop()
  }
}
