import type { RoomConfig } from '../config.ts'
import type { Logger } from '../log/logger.ts'
import type { Fetch } from '../providers/provider-api.ts'
import { RequestError } from '../request-error.ts'
import { RestRoomProvider, ROOM_LIFE_MS } from './rest-room-provider.ts'
import type { ProviderProperties, Room, RoomProvider, SipRoom } from './room-provider.ts'

/** What a client may wish for; the fields of `POST /start`. */
export interface RoomWishes {
  readonly createRoom?: boolean | undefined
  readonly roomProperties?: ProviderProperties | undefined
  readonly meetingTokenProperties?: ProviderProperties | undefined
}

/** A room with a token for each side. */
export interface OpenRoom {
  readonly url: string
  /** For the bot, who owns the room. */
  readonly botToken: string
  /** For the browser, which does not. */
  readonly userToken: string
  /** Where a browser can go as it is. It holds the token, so it is not for logs. */
  readonly joinUrl: string
  readonly expiresAt: Date
}

/** A room in which a bot waits for a telephone call. */
export interface OpenSipRoom extends SipRoom {
  readonly botToken: string
}

/** What rooms are made of. */
export interface RoomsOptions {
  readonly config: RoomConfig
  readonly logger: Logger
  /** Whether this is an instance of the cloud, whose callers are told nothing about the machine that it runs on. Default: false. */
  readonly inCloud?: boolean | undefined
  /** Default: the provider's REST API, when there is a key. */
  readonly provider?: RoomProvider | undefined
  readonly fetch?: Fetch | undefined
  readonly clock?: (() => number) | undefined
  /** Aborted when no room is wanted any more. */
  readonly signal?: AbortSignal | undefined
}

/** Opens rooms for bots and their callers. */
export class Rooms {
  readonly #options: RoomsOptions
  readonly #provider: RoomProvider | undefined
  readonly #clock: () => number

  constructor(options: RoomsOptions) {
    const { config, fetch, clock, signal } = options
    const { apiKey, apiUrl } = config
    this.#options = options
    this.#clock = clock ?? Date.now
    this.#provider =
      options.provider ??
      (apiKey === undefined ? undefined : new RestRoomProvider({ apiKey, apiUrl, fetch, clock, signal }))
  }

  /** Throws the reason why there can be no rooms at all. */
  check(): void {
    this.#configured()
  }

  /** The room of `ROOM_SAMPLE_ROOM_URL` if there is one, else a fresh one. */
  async open(wishes: RoomWishes = {}): Promise<OpenRoom> {
    const provider = this.#configured()
    const { sampleRoomUrl } = this.#options.config
    if (sampleRoomUrl !== undefined) {
      if (wishes.roomProperties !== undefined) {
        this.#options.logger.warn('roomProperties are not used, because ROOM_SAMPLE_ROOM_URL names the room')
      }
      return this.#furnish(provider, this.#sampleRoom(sampleRoomUrl), wishes)
    }
    if (wishes.createRoom === false) {
      const message = 'There is no room to go to. Set createRoom to true, or ROOM_SAMPLE_ROOM_URL.'
      throw new RequestError('invalid_request', message)
    }
    return this.openFresh(wishes)
  }

  /** A room that nobody has been in. */
  async openFresh(wishes: RoomWishes = {}): Promise<OpenRoom> {
    const provider = this.#configured()
    return this.#furnish(provider, await provider.createRoom(wishes.roomProperties), wishes)
  }

  /** A fresh room for somebody on the telephone. */
  async openForCall(caller: string): Promise<OpenSipRoom> {
    const provider = this.#configured()
    const room = await provider.createSipRoom(caller)
    return { ...room, botToken: await provider.createToken(room, { owner: true }) }
  }

  async #furnish(provider: RoomProvider, room: Room, wishes: RoomWishes): Promise<OpenRoom> {
    const { url, expiresAt } = room
    const [botToken, userToken] = await Promise.all([
      provider.createToken(room, { owner: true }),
      provider.createToken(room, { owner: false, properties: wishes.meetingTokenProperties }),
    ])
    const joinUrl = new URL(url)
    joinUrl.searchParams.set('t', userToken)
    return { url, botToken, userToken, joinUrl: joinUrl.href, expiresAt }
  }

  /** Its own end is not known, so the tokens get the life that a room of ours would have. */
  #sampleRoom(url: string): Room {
    const name = new URL(url).pathname.split('/').findLast((part) => part !== '')
    if (name === undefined) {
      const message = 'ROOM_SAMPLE_ROOM_URL names no room. It must look like https://your-domain/room-name.'
      throw new RequestError('not_configured', message)
    }
    return { url, name: decodeName(name), expiresAt: new Date(this.#clock() + ROOM_LIFE_MS) }
  }

  #configured(): RoomProvider {
    if (this.#provider !== undefined) return this.#provider
    const place = this.#options.inCloud
      ? 'the secret set of the agent'
      : 'the environment or in the .env beside your bot'
    const message = `Rooms need the room provider's key. Set ROOM_API_KEY in ${place}.`
    throw new RequestError('not_configured', message)
  }
}

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
