/** How far a conversation is. */
export type Phase = 'idle' | 'connecting' | 'ready'

interface Words {
  readonly status: string
  /** What the one big button does. */
  readonly button: string
  /** Shown while nothing was said. */
  readonly hint: string
}

/** What the page says in each phase. */
export const PHASES: Readonly<Record<Phase, Words>> = {
  idle: { status: 'Not connected', button: 'Connect', hint: 'Connect, then speak or type.' },
  connecting: { status: 'Connecting…', button: 'Cancel', hint: 'The bot is getting ready.' },
  ready: { status: 'Connected', button: 'Disconnect', hint: 'Speak, or type a message.' },
}
