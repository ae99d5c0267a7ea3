import { TRANSPORT_IDS, TRANSPORTS, type TransportId } from '@botcli/protocol'
import type { RunnerConfig } from '@botcli/runner'
import { isLoopback, isUnspecified } from './values.ts'

/** What the banner has to know. */
export interface BannerInput {
  readonly config: RunnerConfig
  readonly url: string
  readonly transports: readonly TransportId[]
  readonly version: string
  /** The bot as it is shown, relative to where the command was called. */
  readonly bot: string
}

/** One transport in the banner. */
export interface TransportLine {
  readonly transport: TransportId
  readonly label: string
  readonly on: boolean
  readonly note: string
}

/** Everything that the banner says. */
export interface Banner {
  readonly url: string
  readonly page: string | undefined
  readonly transports: readonly TransportLine[]
  readonly security: readonly string[]
  readonly hints: readonly string[]
}

/** Says what is on, what it still needs, and who can reach it. */
export function makeBanner(input: BannerInput): Banner {
  const { config, transports } = input
  const url = openable(input.url, config.host)
  const served = config.transport === undefined ? TRANSPORT_IDS : [config.transport]
  return {
    url,
    page: config.pageDir === undefined ? undefined : new URL('/client/', url).href,
    transports: served.map((id) =>
      transportLine(id, transports.includes(id) && TRANSPORTS[id].served, config),
    ),
    security: security(config),
    hints: hints(config),
  }
}

/** The banner for a terminal. */
export function formatBanner(banner: Banner, input: BannerInput, color: boolean): string {
  const paint = (code: number, text: string) => (color ? `\u001b[${code}m${text}\u001b[0m` : text)
  const column = (title: string, text: string) => `  ${paint(2, title.padEnd(11))}${text}`
  const width = Math.max(...banner.transports.map((line) => line.transport.length + line.label.length + 3))
  const transports = banner.transports.map((line, index) => {
    const name = `${line.transport} (${line.label})`.padEnd(width + 2)
    const text = `${line.on ? paint(32, '●') : paint(2, '○')} ${name}${paint(2, line.note)}`
    return column(index === 0 ? 'Transports' : '', text)
  })
  return [
    '',
    `  ${paint(1, 'botcli')} ${input.version}  ${input.bot}`,
    '',
    column('Open', paint(36, banner.page ?? banner.url)),
    ...transports,
    ...banner.security.map((text, index) => column(index === 0 ? 'Security' : '', text)),
    ...banner.hints.map((text) => column('Note', paint(33, text))),
    column('Stop', 'Ctrl-C'),
    '',
    '',
  ].join('\n')
}

/** An address that means every interface cannot be opened everywhere; this machine's own name can. */
function openable(url: string, host: string): string {
  if (!isUnspecified(host)) return url
  const shown = new URL(url)
  shown.hostname = 'localhost'
  return shown.origin
}

function transportLine(transport: TransportId, on: boolean, config: RunnerConfig): TransportLine {
  const { label } = TRANSPORTS[transport]
  return { transport, label, on, note: on ? needs(transport, config).join('; ') : 'not in this version yet' }
}

function needs(transport: TransportId, { proxy, env }: RunnerConfig): readonly string[] {
  const facts = TRANSPORTS[transport]
  const missing = facts.credentials.filter((name) => !env[name])
  const notes: string[] = []
  if (facts.needsProxy && proxy === undefined) notes.push('needs --proxy for its webhook')
  if (missing.length > 0 && facts.credentialsRequired) notes.push(`needs ${missing.join(' and ')}`)
  else if (missing.length > 0) notes.push(`cannot hang up calls without ${missing.join(' and ')}`)
  return notes
}

function security(config: RunnerConfig): readonly string[] {
  const reach = isLoopback(config.host)
    ? 'Only this machine can connect'
    : `Other machines can connect, through ${config.host}`
  const origins =
    config.allowedOrigins.length === 0
      ? 'Pages of all origins are allowed'
      : `Only pages of ${config.allowedOrigins.join(', ')} are allowed`
  const token =
    config.wsAuth === 'token' ? 'WebSocket clients need a token' : 'WebSocket clients need no token'
  return [reach, origins, token]
}

function hints(config: RunnerConfig): readonly string[] {
  const found: string[] = []
  if (config.pageDir === undefined)
    found.push('The browser page is not built, so there is nothing to open at /client')
  if (!isLoopback(config.host)) {
    found.push('Browsers give pages the microphone only on localhost or over https')
    if (config.allowedOrigins.length === 0)
      found.push('Anybody who reaches this machine can start your bot: see --allowed-origins')
  }
  if (config.dialin) found.push('--dialin: dial-in is not in this version yet')
  if (config.whatsapp)
    found.push('--whatsapp: its variables are there; its calls are not in this version yet')
  if (config.proxy !== undefined && (config.transport === 'webrtc' || config.transport === 'room'))
    found.push(`--proxy is for telephony and websocket and changes nothing for ${config.transport}`)
  if (config.isolation === 'inline')
    found.push('--isolation inline: a bot that crashes or blocks takes the runner with it')
  return found
}
