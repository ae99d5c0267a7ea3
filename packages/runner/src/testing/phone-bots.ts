const HEAD = `
import { createTransport } from '@botcli/bot'
const params = () => ({ audioInSampleRate: 16_000, audioOutSampleRate: 24_000 })
const everyone = Object.fromEntries(
  ['telephony_a', 'telephony_b', 'telephony_c', 'telephony_d'].map((id) => [id, params]),
)
/** A tone at the bot's rate. */
const tone = (hertz, ms) =>
  Int16Array.from({ length: 24 * ms }, (_, at) => 8000 * Math.sin((2 * Math.PI * hertz * at) / 24_000))
`

/** Listens until a key is pressed, and says so in the log; it says all that it heard, and is done. */
export const MIRROR_BOT = `${HEAD.replaceAll('24_000', '16_000').replace('24 *', '16 *')}
export async function bot(args) {
  const transport = await createTransport(args, everyone)
  const heard = []
  transport.on('audio', ({ samples }) => heard.push(samples))
  console.log('listens to ' + args.call.callId)
  await new Promise((resolve) => transport.on('dtmf', resolve))
  for (const samples of [...heard]) await transport.sendAudio(samples)
}
`

/** Says a tone of a second at once, and is done. */
export const GOODBYE_BOT = `${HEAD}
export async function bot(args) {
  const transport = await createTransport(args, everyone)
  await transport.sendAudio(tone(500, 1000))
}
`

/** Talks for long. A key stops it; another one it presses itself. What it was told goes into the log. */
export const TALKATIVE_BOT = `${HEAD}
export async function bot(args) {
  const transport = await createTransport(args, everyone)
  transport.on('dtmf', async (keys) => {
    if (keys !== '0') return transport.sendDtmf(keys)
    const { playedMs } = await transport.clear()
    console.log('cleared after ' + Math.round(playedMs) + ' ms')
  })
  for (let at = 0; at < 100; at += 1) {
    try {
      await transport.sendAudio(tone(500, 200))
    } catch {
      return
    }
    if (args.body.mood === 'throws') throw new Error('out of words')
    if (args.body.mood === 'exits') process.exit(3)
  }
}
`
