import { z } from 'zod'
import { isShallow, TOO_DEEP } from './json-depth.ts'
import { transportIdSchema } from './transports.ts'

/** A session's data has to fit into one frame of the link, spelled as we spell it. */
const MAX_DATA_CHARACTERS = 256 * 1024

/** Any JSON object that can be handed on to a bot. */
export const freeFormObject = z
  .record(z.string(), z.unknown())
  .refine((value) => isShallow(value), TOO_DEEP)
  .refine(
    (value) => !isShallow(value) || JSON.stringify(value).length <= MAX_DATA_CHARACTERS,
    `is longer than ${MAX_DATA_CHARACTERS} characters of JSON`,
  )

/** `POST /start`. Keys that we do not know are left to the clients that send them: published ones have some of their own. */
export const startRequestSchema = z
  .object({
    transport: transportIdSchema.optional(),
    enableDefaultIceServers: z.boolean().default(false),
    createRoom: z.boolean().optional(),
    roomProperties: freeFormObject.optional(),
    meetingTokenProperties: freeFormObject.optional(),
    body: freeFormObject.optional(),
  })
  .meta({
    description:
      'Fields that are not named here are taken, too, and nothing comes of them: published clients send some of their own. What is for the bot belongs into body.',
    additionalProperties: true,
  })
export type StartRequest = z.infer<typeof startRequestSchema>

/** What a browser hands to its peer connection. */
export interface IceConfig {
  readonly iceServers: readonly { readonly urls: readonly string[] }[]
}

/** The one public STUN server that `enableDefaultIceServers` adds. */
export const DEFAULT_STUN_URL = 'stun:stun.l.google.com:19302'

/** Answer of `/start` for `webrtc`. */
export interface WebrtcStartResponse {
  readonly sessionId: string
  readonly iceConfig?: IceConfig
}

/** Answer of `/start` for `websocket`. `token` is there only when the runner asks for tokens. */
export interface WebsocketStartResponse {
  readonly wsUrl: string
  readonly sessionId: string
  readonly token?: string
}

/** Answer of `/start` for the carriers. An instance of the cloud always tells the session. */
export interface TelephonyStartResponse {
  readonly wsUrl: string
  readonly sessionId?: string
}

/** Answer of `/start` for `room`. */
export interface RoomStartResponse {
  readonly roomUrl: string
  readonly roomToken: string
  readonly sessionId: string
}

/** Answer of `GET /status`. */
export interface StatusResponse {
  readonly status: 'ready'
  readonly transports: readonly string[]
}
