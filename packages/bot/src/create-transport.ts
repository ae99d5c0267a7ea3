import type { TransportId } from '@botcli/protocol'
import type { RunnerArguments } from './arguments.ts'
import { BotError } from './errors.ts'
import { LinkTransport, type ResolvedParams } from './link-transport.ts'
import { sessionOf } from './session-port.ts'
import type { Transport, TransportParams } from './transport.ts'

/** What a bot wants from each transport that it serves. Only the one that the caller uses is asked. */
export type TransportFactories = Readonly<
  Partial<Record<TransportId, () => TransportParams | Promise<TransportParams>>>
>

/**
 * Makes the transport of this session. Set listeners right after it, without another `await`: whatever the client sent
 * before is delivered then.
 *
 * @example
 * const transport = await createTransport(args, { webrtc: () => ({}), telephony_a: () => ({ rtvi: false }) })
 */
export async function createTransport(
  args: RunnerArguments,
  factories: TransportFactories,
): Promise<Transport> {
  const port = sessionOf(args)
  if (port === undefined) {
    throw new BotError(
      'unknown_session',
      'createTransport() does not know these arguments; hand it the very object that bot(args) was called with, not a copy',
    )
  }
  const { transport } = port.start
  if (transport === 'room') {
    throw new BotError(
      'no_room_sdk',
      `the room provider has no SDK for Node, so a JavaScript bot cannot speak in its rooms. Talk to this bot by webrtc, websocket or a phone carrier instead; or hand args.roomUrl, args.token and args.body to a program that joins the room, and return when it is done`,
    )
  }
  if (transport === 'eval') {
    throw new BotError(
      'no_evals',
      'this caller is an eval, which speaks to the pipeline of a bot in Python. Evals cannot be run against a JavaScript bot; talk to it by webrtc, websocket or a phone carrier instead',
    )
  }
  const factory = factories[transport]
  if (factory === undefined) {
    const offered = Object.keys(factories).join(', ') || 'none'
    throw new BotError(
      'transport_not_offered',
      `the caller uses '${transport}'; add \`${transport}: () => ({})\` to createTransport(), which serves only: ${offered}`,
    )
  }
  const params = resolved(await factory())
  if (port.endReason !== undefined) {
    throw new BotError(
      'session_ended',
      `no transport can be made, the session is over: ${port.endReason.message}`,
    )
  }
  if (port.attached) {
    throw new BotError('transport_exists', 'createTransport() was called twice; a session has one transport')
  }
  return new LinkTransport(port, transport, params)
}

function resolved(params: TransportParams): ResolvedParams {
  return {
    audioInSampleRate: checkedRate('audioInSampleRate', params.audioInSampleRate ?? 16_000),
    audioOutSampleRate: checkedRate('audioOutSampleRate', params.audioOutSampleRate ?? 24_000),
    rtvi: params.rtvi ?? true,
  }
}

function checkedRate(name: string, rate: number): number {
  // Sound travels in pieces of 20 ms, which must be whole samples.
  if (Number.isInteger(rate) && rate >= 8000 && rate <= 48_000 && rate % 50 === 0) return rate
  throw new BotError(
    'invalid_params',
    `${name} is ${rate}; it must be a multiple of 50 from 8000 to 48000, such as 8000, 16000, 24000 or 48000`,
  )
}
