import { Client } from './client.mjs'
import { startBare, startOurs, startPeer } from './servers.mjs'
import { sleep } from './wait.mjs'
import { quietWindow } from './window.mjs'

const COUNTS = [1, 10, 25]
const QUICK_COUNTS = [10]
/** Below this share of its audio a server is overloaded, and its CPU says nothing about a call. */
const ALL_AUDIO = 0.98

/** Phone calls through a carrier's WebSocket: how late the sound comes back, how evenly, and what a call costs. */
export const phone = {
  title: 'phone calls',
  /** @param {import('./main.mjs').Bench} bench */
  async run({ quick, peer, note }) {
    // A call lasts for minutes, and the code of its first seconds is still being compiled.
    const window = quick ? { settleMs: 3000, ms: 3000 } : { settleMs: 12_000, ms: 10_000 }
    const rows = []
    for (const count of quick ? QUICK_COUNTS : COUNTS) {
      const found = {}
      for (const [who, start] of Object.entries(servers(peer))) {
        found[who] = await measure(await start(), count, window)
        note(describe(who, count, found[who]))
      }
      rows.push(...rowsOf(count, found))
    }
    return rows
  },
}

/** A bot that works at the phone's rate beside the bare socket, and one that works at its own beside the codec. */
function servers(peer) {
  const ownServers = {
    'ours, 8 kHz': () => startOurs({ bot: 'phone-bot', env: { BENCH_RATES: 'phone' } }),
    'ours, 16 kHz': () => startOurs({ bot: 'phone-bot' }),
    socket: () => startBare('phone-echo'),
    codec: () => startBare('phone-echo', { args: ['--codec'] }),
  }
  if (peer === undefined) return ownServers
  return {
    ...ownServers,
    'peer, 8 kHz': () => startPeer(peer, { env: { BENCH_RATES: 'phone' } }),
    'peer, default rates': () => startPeer(peer, { env: { BENCH_RATES: 'default' } }),
  }
}

function rowsOf(count, found) {
  const narrow = { ours: found['ours, 8 kHz'], bare: found.socket, peer: found['peer, 8 kHz'] }
  const wide = { ours: found['ours, 16 kHz'], bare: found.codec, peer: found['peer, default rates'] }
  return [...rowsAt(count, '8 kHz', narrow), ...rowsAt(count, '16 kHz', wide)]
}

function rowsAt(count, rate, { ours, bare, peer }) {
  const name = (what) => `phone ${what}, ${rate}, ${count === 1 ? '1 call' : `${count} calls`}`
  const row = (what, unit, get, more = {}) => ({
    name: name(what),
    unit,
    ours: get(ours),
    bare: get(bare),
    peer: peer && get(peer),
    ...more,
  })
  // A server that loses sound saves the work for it, and what it still sends is late.
  const peerOverloaded = peer !== undefined && peer.heard < ALL_AUDIO
  const delayTarget = { peerOverloaded, target: { peerShare: 1, atMost: 22.5 } }
  const cpuTarget = { peerOverloaded, target: { peerShare: 0.33, atMost: 2.3 } }
  return [
    row('tone to tone, p50', 'ms', ({ delay }) => delay.p50, delayTarget),
    row('tone to tone, p95', 'ms', ({ delay }) => delay.p95, { peerOverloaded }),
    row('frame to frame, p99', 'ms', ({ pause }) => pause.p99),
    row('CPU a call', '% core', ({ cpu }) => cpu, cpuTarget),
    row('audio back', '%', ({ heard }) => heard * 100, { target: { atLeast: 99.5 }, noRatio: true }),
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
    await client.ask('dial', { url: server.url, count }, 180_000)
    await sleep(settleMs)
    const { cpu, ...seen } = await quietWindow(server, client, () => client.ask('talk', { ms }))
    return { ...seen, cpu: (cpu * 100) / count }
  } finally {
    await client.stop()
    await server.stop()
  }
}

function describe(who, count, { worst, sent, foreign, lostTones, pause, delay }) {
  const percent = (share) => `${(share * 100).toFixed(1)} %`
  const ms = (number) => `${number.toFixed(1)} ms`
  const facts = [
    `${delay.count} tones, ${lostTones} lost`,
    `a frame each ${ms(pause.p50)}, longest pause ${ms(pause.max)}`,
    `worst call heard ${percent(worst)}`,
    `generator sent ${percent(sent)}`,
    `${foreign.toFixed(1)} cores taken by other work`,
  ]
  return `${who}, ${count === 1 ? '1 phone' : `${count} phones`}: ${facts.join(', ')}`
}
