/** The bot's voice on this page, whichever way its sound arrives. */
export interface BotVoice {
  /** How loud the bot is, from 0 to 1. */
  readonly level: number
  /** Chooses the loudspeaker; an empty id means the one that the system prefers. */
  setSpeaker(deviceId: string): Promise<void>
  close(): void
}
