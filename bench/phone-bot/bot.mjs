import { createTransport } from '@botcli/bot'

const rate = process.env.BENCH_RATES === 'phone' ? 8000 : 16_000
const params = () => ({ audioInSampleRate: rate, audioOutSampleRate: rate })
/** What a caller says before the bot listens comes in one go; an echo of it would stay late for the whole call. */
const DEAF_MS = 500

/**
 * Gives a caller's sound back. After a hiccup some of it is left out, or all of it would stay late.
 * @param {import('@botcli/bot').RunnerArguments} args
 */
export async function bot(args) {
  const transport = await createTransport(args, { telephony_a: params })
  const begin = performance.now()
  let late = false
  for await (const frame of transport.audio()) {
    late = transport.queuedMs > (late ? 20 : 60)
    if (!late && performance.now() - begin > DEAF_MS) await transport.sendAudio(frame.samples)
  }
}
