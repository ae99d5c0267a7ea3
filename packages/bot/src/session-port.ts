import type { BotStart, GuestMessage, HostMessage, LinkFrame } from '@botcli/protocol'
import type { RunnerArguments } from './arguments.ts'
import type { EndReason } from './transport.ts'

/** A frame that a host can send. */
export type HostFrame = Extract<LinkFrame, { kind: 'audioIn' | 'playback' }>

/** What a transport gets from its session. */
export interface SessionReceiver {
  message(message: HostMessage): void
  frame(frame: HostFrame): void
  /** The session is over. Called once, last. */
  ended(reason: EndReason): void
  /** Resolves when all sound was played. */
  drained(): Promise<void>
}

/** Answers a request, as `fetch` handlers of other platforms do. */
export type RequestHandler = (request: Request) => Response | Promise<Response>

/** The session as its transport sees it. */
export interface SessionPort {
  readonly start: BotStart
  /** Set once the session is over. */
  readonly endReason: EndReason | undefined
  /** True once a transport was made. */
  readonly attached: boolean
  /** Bytes that the host has not taken yet. */
  readonly backlog: number
  /** Makes this the transport of the session. What came before it was made follows, after the current turn. */
  attach(receiver: SessionReceiver): void
  send(message: GuestMessage): void
  sendAudioOut(epoch: number, samples: Int16Array): void
  sendHeard(frames: number): void
  /** Lets this answer the requests to the session. */
  serve(handler: RequestHandler): void
  /** The bot is broken, as if it had thrown. */
  fail(error: unknown): void
  /** The bot wants the session to be over. */
  finish(): void
}

/**
 * Which arguments belong to which session. It lives on `globalThis` because the guest and the user's project may
 * each have their own copy of this package, and both must find the same map.
 */
const REGISTRY = Symbol.for('botcli.link')

type Registry = WeakMap<object, SessionPort>

function registry(): Registry {
  const shared = globalThis as { [REGISTRY]?: Registry }
  shared[REGISTRY] ??= new WeakMap()
  return shared[REGISTRY]
}

/** Remembers the session behind arguments. */
export function registerSession(args: RunnerArguments, port: SessionPort): void {
  registry().set(args, port)
}

/** The session behind arguments, if they are those that `bot` was called with. */
export function sessionOf(args: RunnerArguments): SessionPort | undefined {
  return registry().get(args)
}
