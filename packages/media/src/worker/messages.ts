import type { BotRequest, BotResponse, BotStart, IceCandidate, SessionOutcome } from '@botcli/protocol'
import type { MediaErrorCode } from '../errors.ts'
import type { MediaHostOptions } from '../host/local-media-host.ts'
import type { CallDoor, CarrierCall, EvalCaller, PeerAnswer } from '../host/media-host.ts'
import type { GuestOver } from '../session/guest-channel.ts'
import type { MediaEnd, MediaReport } from '../session/hosted-session.ts'

/** A WebSocket request as it crosses to a worker: bytes as base64. */
export interface PackedUpgrade {
  readonly url: string
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly head: string
}

/** What a worker is asked to do. Three of these come with a socket. */
export type WorkerCall =
  | { readonly type: 'open-webrtc'; readonly sessionId: string; readonly offer: string }
  | { readonly type: 'open-peer-relay'; readonly sessionId: string; readonly offer: string }
  | {
      readonly type: 'open-websocket'
      readonly sessionId: string
      readonly request: PackedUpgrade
      readonly passThrough: boolean
    }
  | {
      readonly type: 'open-carrier'
      readonly sessionId: string
      readonly request: PackedUpgrade
      readonly door: CallDoor
    }
  | { readonly type: 'open-room'; readonly sessionId: string }
  | { readonly type: 'join'; readonly sessionId: string; readonly start: BotStart }
  | {
      readonly type: 'negotiate'
      readonly sessionId: string
      readonly offer: string
      readonly restart: boolean
    }
  | { readonly type: 'candidates'; readonly sessionId: string; readonly candidates: readonly IceCandidate[] }
  | { readonly type: 'request'; readonly sessionId: string; readonly request: BotRequest }
  | {
      readonly type: 'close'
      readonly sessionId: string
      readonly outcome: SessionOutcome
      readonly deadlineMs: number
    }

/** From the runner's process to a worker. */
export type ToWorker =
  | { readonly type: 'options'; readonly options: MediaHostOptions }
  | { readonly type: 'call'; readonly id: number; readonly call: WorkerCall }
  /** The sender has let go of the socket that came with this call; it may want it done no more. */
  | { readonly type: 'go'; readonly id: number; readonly wanted: boolean }

/** What a worker answers with, where it has more to say than that it is done. */
export type WorkerResult = PeerAnswer | CarrierCall | EvalCaller | BotResponse | MediaEnd

/** What a worker tells about a session. */
export type WorkerEvent =
  | { readonly type: 'connected' }
  | { readonly type: 'disconnected' }
  | { readonly type: 'over'; readonly reason: GuestOver }
  | { readonly type: 'report'; readonly report: MediaReport }

/** Why a worker could not do what it was asked. */
export interface WorkerFault {
  readonly code: MediaErrorCode
  readonly message: string
}

/** From a worker to the runner's process. */
export type FromWorker =
  | { readonly type: 'ready' }
  /** The socket that came with this call has arrived, and is not touched before `go`. */
  | { readonly type: 'held'; readonly id: number }
  | { readonly type: 'done'; readonly id: number; readonly result?: WorkerResult }
  | { readonly type: 'failed'; readonly id: number; readonly fault: WorkerFault }
  | { readonly type: 'event'; readonly sessionId: string; readonly event: WorkerEvent }
  | { readonly type: 'log'; readonly message: string; readonly detail?: object }
