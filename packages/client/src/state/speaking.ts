/** Who is speaking, as far as the bot says. */
export type Speaker = 'user' | 'bot' | undefined

/** Who is speaking after a message of this type. */
export function speakerAfter(type: string, before: Speaker): Speaker {
  switch (type) {
    case 'user-started-speaking':
      return 'user'
    case 'bot-started-speaking':
      return 'bot'
    case 'user-stopped-speaking':
      return before === 'user' ? undefined : before
    case 'bot-stopped-speaking':
    case 'bot-interrupted':
      return before === 'bot' ? undefined : before
    default:
      return before
  }
}
