/** What can go wrong before a wire exists, and with a request to a bot. */
export type MediaErrorCode =
  | 'invalid_offer'
  | 'invalid_upgrade'
  | 'invalid_call'
  | 'media_unavailable'
  | 'not_served'
  | 'bot_busy'
  | 'bot_failed'
  | 'bot_timeout'

/** An expected fault of the media side. The invalid ones are the client's doing, some are the bot's, the rest is ours. */
export class MediaError extends Error {
  override readonly name = 'MediaError'
  readonly code: MediaErrorCode

  constructor(code: MediaErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
