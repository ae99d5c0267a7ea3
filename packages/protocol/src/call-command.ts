import type { TransportId } from './transports.ts'

/** Where `botcli call` goes when it is not told. */
const USUAL_URL = 'http://localhost:7860'

/** The command that calls a runner without a phone. The origin is for a runner that asks for one. */
export function callCommand(transport: TransportId, url: string, origin: string | undefined): string {
  const target = url === USUAL_URL ? [] : [shellWord(url)]
  const shown = origin === undefined ? [] : ['--origin', shellWord(origin)]
  return ['botcli', 'call', ...target, '--as', transport, ...shown].join(' ')
}

/** Text as one word of a command; shells take brackets for a pattern, for example. */
export function shellWord(text: string): string {
  return /^[\w:/.-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
