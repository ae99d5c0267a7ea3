/** A request of the client (`client-message`) that waits for one answer. */
export interface RtviRequest {
  readonly type: string
  readonly data: unknown
  respond(data: unknown): void
  fail(message: string): void
}

/** Text that the user typed (`send-text`). */
export interface TypedText {
  readonly text: string
  /** Whether the bot should answer now, and not only remember the text. */
  readonly runImmediately: boolean
  /** Whether the answer should be spoken. */
  readonly audioResponse: boolean
}

/** The RTVI conversation with the client: what the user and the bot say, as events that every published client shows. */
export interface Rtvi {
  /** The client's version of RTVI, once it said that it is ready. */
  readonly clientVersion: string | undefined
  /** Calls back once the client is ready and was told that the bot is; at once if that is so already. */
  onClientReady(listener: () => void): void
  onText(listener: (text: TypedText) => void): void
  onRequest(listener: (request: RtviRequest) => void): void

  userStartedSpeaking(): void
  userStoppedSpeaking(): void
  botStartedSpeaking(): void
  botStoppedSpeaking(): void
  /** The user spoke over the bot, which fell silent. */
  botInterrupted(): void
  /** What the user said. An interim text (`final: false`) is replaced by the next one. */
  userTranscription(text: string, options?: { readonly final?: boolean }): void
  /** Confirms text that the user typed, for clients that show it. */
  userInput(text: string): void
  /** What the bot says, a sentence at a time. `spoken: false` is text that is only shown. */
  botOutput(text: string, options?: { readonly spoken?: boolean }): void
  /** Anything, for the client's own code. */
  serverMessage(data: unknown): void
  error(message: string, options?: { readonly fatal?: boolean }): void
  /** Sends any other RTVI message. */
  send(type: string, data?: unknown): void
}
