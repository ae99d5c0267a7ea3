export type {
  BaseRunnerArguments,
  CommonArguments,
  PhoneCall,
  RoomRunnerArguments,
  RunnerArguments,
  WebrtcConnection,
  WebrtcRunnerArguments,
  WebsocketConnection,
  WebsocketRunnerArguments,
} from './arguments.ts'
export type { BotFunction } from './bot-function.ts'
export { createTransport, type TransportFactories } from './create-transport.ts'
export { BotError, type BotErrorCode } from './errors.ts'
export type { Rtvi, RtviRequest, TypedText } from './rtvi.ts'
export { serve } from './serve.ts'
export type { RequestHandler } from './session-port.ts'
export type {
  AudioFrame,
  ClearResult,
  EndReason,
  Transport,
  TransportEvents,
  TransportParams,
} from './transport.ts'
