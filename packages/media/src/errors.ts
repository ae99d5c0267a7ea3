/** What can go wrong before a wire exists. */
export type MediaErrorCode = 'invalid_offer' | 'invalid_upgrade' | 'invalid_call' | 'media_unavailable'

/** An expected fault of the media side. The invalid ones are the client's doing, the rest is ours. */
export class MediaError extends Error {
  override readonly name = 'MediaError'
  readonly code: MediaErrorCode

  constructor(code: MediaErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
