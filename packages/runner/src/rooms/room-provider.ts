/** A room that exists. */
export interface Room {
  readonly url: string
  readonly name: string
  readonly expiresAt: Date
}

/** A room that a telephone call can be put into. */
export interface SipRoom extends Room {
  readonly sipUri: string
}

/** Properties in the provider's own words. */
export type ProviderProperties = Readonly<Record<string, unknown>>

/** For whom a token is. */
export interface TokenOptions {
  /** Owners may do everything in the room. */
  readonly owner: boolean
  readonly properties?: ProviderProperties | undefined
}

/** Whoever has rooms. Every method rejects with `provider_failed` when it cannot be done. */
export interface RoomProvider {
  createRoom(properties?: ProviderProperties): Promise<Room>
  createSipRoom(caller: string): Promise<SipRoom>
  createToken(room: Room, options: TokenOptions): Promise<string>
}
