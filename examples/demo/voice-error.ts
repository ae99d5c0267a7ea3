/** What can go wrong with the built-in voice. */
export type VoiceErrorCode = 'voice-not-installed' | 'voice-failed'

/** The built-in voice could not be loaded or could not speak. */
export class VoiceError extends Error {
  readonly code: VoiceErrorCode

  constructor(code: VoiceErrorCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'VoiceError'
    this.code = code
  }
}
