import { createTransport, type RunnerArguments, type TransportParams } from '@botcli/bot'

/** The same rate both ways, so that sound goes back as it came. */
const params = (): TransportParams => ({ audioInSampleRate: 16_000, audioOutSampleRate: 16_000 })

/** Gives back to the caller whatever the caller sends: sound, keys, messages and typed text. */
export async function bot(args: RunnerArguments): Promise<void> {
  const transport = await createTransport(args, {
    webrtc: params,
    room: params,
    telephony_a: params,
    telephony_b: params,
    telephony_c: params,
    telephony_d: params,
    websocket: params,
  })

  transport.on('dtmf', (keys) => transport.sendDtmf(keys))
  transport.on('message', (message) => transport.sendMessage(message))
  transport.rtvi.onRequest((request) => request.respond(request.data))
  transport.rtvi.onText(({ text }) => {
    transport.rtvi.userInput(text)
    transport.rtvi.botOutput(text, { spoken: false })
  })

  // After a hiccup all sound would stay late, so some of it is left out until it is prompt again. A client may send
  // its sound in long chunks; that makes a long queue, but no sound of it is late.
  let start: number | undefined
  let late = false
  for await (const frame of transport.audio()) {
    const now = performance.now()
    start ??= now - frame.capturedAt
    const lateMs = now - start + transport.queuedMs - frame.capturedAt
    late = lateMs > (late ? 60 : 200)
    if (!late) await transport.sendAudio(frame.samples)
  }
}
