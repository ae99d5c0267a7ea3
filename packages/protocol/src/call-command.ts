import type { TransportId } from './transports.ts'

/** Where `botcli call` goes when it is not told. */
const USUAL_URL = 'http://localhost:7860'

/** What a command that calls a runner is made of. */
export interface CallTarget {
  /** How this program is called where the reader is, such as `npx botcli`. */
  readonly command: string
  readonly url: string
  /** For a runner that asks for one. */
  readonly origin: string | undefined
}

/** The command that calls a runner without a phone. */
export function callCommand(transport: TransportId, { command, url, origin }: CallTarget): string {
  const target = url === USUAL_URL ? [] : [shellWord(url)]
  const shown = origin === undefined ? [] : ['--origin', shellWord(origin)]
  return [command, 'call', ...target, '--as', transport, ...shown].join(' ')
}

/** Text as one word of a command; shells take brackets for a pattern, for example. */
export function shellWord(text: string): string {
  return /^[\w:/.-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
