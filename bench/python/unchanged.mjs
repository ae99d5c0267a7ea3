import { loadRows } from '../load.mjs'
import { peerBot, startBot } from './bots.mjs'
import { warmRows } from './call.mjs'
import { ourGuests } from './memory.mjs'

/** Each call needs about a sixth of a core for the bot's own WebRTC, here as there. */
const COUNTS = [1, 5, 10]

/** The very bot of the peer's runner, on ours: it speaks its callers' wires itself. */
export const pythonUnchanged = {
  title: 'Python: an unchanged bot of the peer',
  /** @param {import('../main.mjs').Bench} bench */
  async run(bench) {
    const { quick, peer, note } = bench
    if (peer === undefined) {
      note('an unchanged bot of the peer was left out, as the peer was')
      return []
    }
    const bot = peerBot(peer)
    const rows = await warmRows([bot], quick ? 5 : 50, peer)
    const { one } = await ourGuests(bot, 'fork')
    const name = `python private memory, forked, ${bot.name}`
    rows.push({ name, unit: 'MB', ours: one, target: { atMost: 20 } })
    const start = () => startBot(bot, [])
    rows.push(...(await loadRows(bench, { prefix: 'unchanged ', counts: COUNTS, start })))
    return rows
  },
}
