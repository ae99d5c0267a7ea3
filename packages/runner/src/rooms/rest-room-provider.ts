import { randomBytes } from 'node:crypto'
import {
  type CreatedRoom,
  type CreateRoomRequest,
  type CreateTokenRequest,
  createdRoomSchema,
  createdTokenSchema,
  DEFAULT_ROOM_API_URL,
  roomRefusalSchema,
} from '@botcli/protocol'
import { type Fetch, ProviderApi } from '../providers/provider-api.ts'
import { RequestError } from '../request-error.ts'
import type { ProviderProperties, Room, RoomProvider, SipRoom, TokenOptions } from './room-provider.ts'

/** How long a room lives when nobody says otherwise, and the longest that anybody can wish for. */
export const ROOM_LIFE_MS = 4 * 60 * 60 * 1000
const MAX_ROOM_LIFE_MS = 24 * 60 * 60 * 1000

/** How to reach the provider. */
export interface RestRoomProviderOptions {
  readonly apiKey: string
  readonly apiUrl?: string | undefined
  readonly fetch?: Fetch | undefined
  readonly limitMs?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** Milliseconds since 1970. */
  readonly clock?: (() => number) | undefined
}

/** The room provider's REST API. */
export class RestRoomProvider implements RoomProvider {
  readonly #api: ProviderApi
  readonly #clock: () => number

  constructor({ apiKey, apiUrl, fetch, limitMs, signal, clock }: RestRoomProviderOptions) {
    this.#clock = clock ?? Date.now
    this.#api = new ProviderApi({
      label: 'The room provider',
      baseUrl: apiUrl ?? DEFAULT_ROOM_API_URL,
      authorization: `Bearer ${apiKey}`,
      secrets: [apiKey],
      credential: 'ROOM_API_KEY',
      reason: (answer) => {
        const { data } = roomRefusalSchema.safeParse(answer)
        return data?.info ?? data?.error
      },
      fetch,
      limitMs,
      signal,
    })
  }

  async createRoom(properties: ProviderProperties = {}): Promise<Room> {
    return this.#roomOf(await this.#create('botcli', properties))
  }

  async createSipRoom(caller: string): Promise<SipRoom> {
    const created = await this.#create('botcli-call', {
      start_video_off: true,
      sip: { display_name: caller, video: false, sip_mode: 'dial-in', num_endpoints: 1 },
    })
    const endpoint = created.config.sip_uri?.endpoint
    if (endpoint === undefined) {
      const message = 'The room provider made a room without a SIP address. Is dial-in part of your plan?'
      throw new RequestError('provider_failed', message)
    }
    const sipUri = endpoint.startsWith('sip:') ? endpoint : `sip:${endpoint}`
    return { ...this.#roomOf(created), sipUri }
  }

  async createToken({ name, expiresAt }: Room, { owner, properties }: TokenOptions): Promise<string> {
    const exp = seconds(this.#within(properties?.exp, expiresAt.getTime()) ?? expiresAt.getTime())
    const json: CreateTokenRequest = { properties: { is_owner: owner, ...properties, exp, room_name: name } }
    const request = { method: 'POST', path: '/meeting-tokens', json } as const
    return (await this.#api.ask('make a token', request, createdTokenSchema)).token
  }

  #create(prefix: string, properties: ProviderProperties): Promise<CreatedRoom> {
    const now = this.#clock()
    const expiry = this.#within(properties.exp, now + MAX_ROOM_LIFE_MS) ?? now + ROOM_LIFE_MS
    const json: CreateRoomRequest = {
      name: `${prefix}-${randomBytes(8).toString('hex')}`,
      // Everybody whom we let in has a token.
      privacy: 'private',
      properties: {
        enable_chat: false,
        enable_prejoin_ui: false,
        enable_emoji_reactions: false,
        start_video_off: false,
        eject_at_room_exp: true,
        ...properties,
        exp: seconds(expiry),
      },
    }
    return this.#api.ask('make a room', { method: 'POST', path: '/rooms', json }, createdRoomSchema)
  }

  #roomOf({ url, name, config }: CreatedRoom): Room {
    const expiresAt = new Date(config.exp === undefined ? this.#clock() + ROOM_LIFE_MS : config.exp * 1000)
    return { url, name, expiresAt }
  }

  /** A wished end in milliseconds, when it is one that can be granted. */
  #within(wish: unknown, latest: number): number | undefined {
    if (typeof wish !== 'number' || !(wish * 1000 > this.#clock())) return undefined
    return Math.min(wish * 1000, latest)
  }
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000)
}
