import { createTransport, type RunnerArguments, type TransportParams } from '@botcli/bot'
import { systemClock } from './clock.ts'
import { Conversation } from './conversation.ts'
import { GREETING } from './phrases.ts'
import { VOICE_SAMPLE_RATE, Voice } from './voice.ts'

// Loaded with this file, before anybody calls, so that the greeting comes at once.
const voice = await Voice.ready(GREETING)

const params = (): TransportParams => ({
  audioInSampleRate: VOICE_SAMPLE_RATE,
  audioOutSampleRate: VOICE_SAMPLE_RATE,
})

/** Talks with one caller, on any transport, with no key and no network. */
export async function bot(args: RunnerArguments): Promise<void> {
  const transport = await createTransport(args, {
    webrtc: params,
    websocket: params,
    room: params,
    telephony_a: params,
    telephony_b: params,
    telephony_c: params,
    telephony_d: params,
  })
  await new Conversation({ transport, voice, clock: systemClock, random: Math.random }).run()
}
