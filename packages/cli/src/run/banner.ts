import { callCommand, TRANSPORT_IDS, TRANSPORTS, type TransportId } from '@botcli/protocol'
import type { RunnerConfig } from '@botcli/runner'
import { COLOURS, paintFor } from '../paint.ts'
import { isLoopback, isUnspecified } from './values.ts'

const WEBHOOK_SECRETS = [
  { transport: 'telephony_a', key: 'a', variable: 'TELEPHONY_A_AUTH_TOKEN' },
  { transport: 'telephony_b', key: 'b', variable: 'TELEPHONY_B_PUBLIC_KEY' },
  { transport: 'telephony_c', key: 'c', variable: 'TELEPHONY_C_AUTH_TOKEN' },
] as const

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
  /** How to try it; empty when it cannot work yet. */
  readonly attempt: string
  /** What it needs, to work at all or to do everything. */
  readonly note: string
}

/** Where somebody else is told to send calls. */
export interface AddressLine {
  readonly title: string
  readonly url: string
  readonly note: string
}

/** Everything that the banner says. */
export interface Banner {
  readonly url: string
  readonly page: string | undefined
  readonly transports: readonly TransportLine[]
  readonly addresses: readonly AddressLine[]
  readonly security: readonly string[]
  readonly hints: readonly string[]
}

/** Says what is on, what it still needs, and who can reach it. */
export function makeBanner(input: BannerInput): Banner {
  const { config, transports } = input
  const url = openable(input.url, config.host)
  const served = config.transport === undefined ? TRANSPORT_IDS : [config.transport]
  const lines = served.map((id) => transportLine(id, transports.includes(id), config, url))
  return {
    url,
    page: config.pageDir === undefined ? undefined : new URL('/client/', url).href,
    transports: lines,
    addresses: addresses(config, transports, url),
    security: security(config),
    hints: [...hints(config), ...(config.transport === undefined ? [] : shortcomings(lines))],
  }
}

/** The banner for a terminal. */
export function formatBanner(banner: Banner, input: BannerInput, color: boolean): string {
  const paint = paintFor(color)
  const column = (title: string, text: string) => `  ${paint(COLOURS.dim, title.padEnd(11))}${text}`
  const width = Math.max(...banner.transports.map((line) => line.transport.length + line.label.length + 3))
  const transports = banner.transports.map((line, index) => {
    const name = `${line.transport} (${line.label})`.padEnd(width + 2)
    const dot = line.on && line.attempt !== '' ? paint(COLOURS.green, '●') : paint(COLOURS.dim, '○')
    const text = `${dot} ${name}${paint(COLOURS.dim, line.attempt || line.note)}`
    return column(index === 0 ? 'Transports' : '', text)
  })
  return [
    '',
    `  ${paint(1, 'botcli')} ${input.version}  ${input.bot}`,
    '',
    column('Open', paint(COLOURS.cyan, banner.page ?? banner.url)),
    ...transports,
    ...banner.addresses.map(({ title, url, note }) =>
      column(title, note ? `${url}  ${paint(COLOURS.dim, note)}` : url),
    ),
    ...banner.security.map((text, index) => column(index === 0 ? 'Security' : '', text)),
    ...banner.hints.map((text) => column('Note', paint(COLOURS.yellow, text))),
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

function transportLine(
  transport: TransportId,
  on: boolean,
  config: RunnerConfig,
  url: string,
): TransportLine {
  const { label, credentials, credentialsRequired } = TRANSPORTS[transport]
  const missing = credentials.filter((name) => !config.env[name]).join(' and ')
  const line = { transport, label, on }
  if (!on) return { ...line, attempt: '', note: 'is turned off' }
  if (missing === '') return { ...line, attempt: attempt(transport, config, url), note: '' }
  if (credentialsRequired) return { ...line, attempt: '', note: `needs ${missing}` }
  return {
    ...line,
    attempt: attempt(transport, config, url),
    note: `cannot hang up calls without ${missing}`,
  }
}

/** The shortest way to see a transport at work. */
function attempt(transport: TransportId, config: RunnerConfig, url: string): string {
  if (TRANSPORTS[transport].telephony)
    return callCommand(transport, { command: config.command, url, origin: config.allowedOrigins[0] })
  if (transport === 'room') return `open ${url}/daily`
  if (transport === 'websocket') return websocketUrl(url, '/ws-client')
  return config.pageDir === undefined ? `POST ${url}/api/offer` : 'open the page'
}

function addresses(
  config: RunnerConfig,
  transports: readonly TransportId[],
  url: string,
): readonly AddressLine[] {
  const { proxy, transport, dialin, whatsapp } = config
  const phones = transports.some((id) => TRANSPORTS[id].telephony)
  const origin = proxy === undefined ? url : `https://${proxy}`
  const unnamed = proxy === undefined ? 'others reach it through --proxy' : ''
  const webhook = (title: string, path: string): AddressLine => ({
    title,
    url: `${origin}${path}`,
    note: unnamed,
  })
  const lines: AddressLine[] = []
  if (phones) lines.push({ title: 'Carriers', url: websocketUrl(origin, '/ws'), note: unnamed })
  if (phones && transport !== undefined) lines.push(webhook('Webhook', '/'))
  if (dialin) lines.push(webhook('Dial-in', '/daily-dialin-webhook'))
  if (whatsapp) lines.push(webhook('WhatsApp', '/whatsapp'))
  return lines
}

function websocketUrl(origin: string, path: string): string {
  return `${origin.replace(/^http/, 'ws')}${path}`
}

function security(config: RunnerConfig): readonly string[] {
  const proxied = config.proxy === undefined ? '' : `, and whoever ${config.proxy} leads here`
  const reach = isLoopback(config.host)
    ? `Only this machine can connect${proxied}`
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
  if (
    config.allowedOrigins.length > 0 &&
    (config.transport === undefined || TRANSPORTS[config.transport].telephony)
  )
    found.push(
      '--allowed-origins: carriers show no origin; calls need a signed webhook, or an address from /start',
    )
  if (config.allowedOrigins.length > 0 && config.dialin && config.room.dialinSecret === undefined)
    found.push('--allowed-origins: dial-in needs ROOM_DIALIN_SECRET, because the provider shows no origin')
  if (isProxyIdle(config))
    found.push(`--proxy is for telephony and websocket and changes nothing for ${config.transport}`)
  const unchecked = uncheckedWebhook(config)
  if (unchecked !== undefined)
    found.push(`Calls are taken from anybody who claims to be the carrier; set ${unchecked} to check`)
  if (config.evals) found.push('--evals: whoever can connect can rewrite what your bot was told')
  if (config.isolation === 'inline')
    found.push('--isolation inline: a bot that crashes or blocks takes the runner with it')
  return found
}

/** What a transport that was selected does not do; beside all the others it would be too much to read. */
function shortcomings(lines: readonly TransportLine[]): readonly string[] {
  return lines
    .filter((line) => line.attempt !== '' && line.note !== '')
    .map((line) => `${line.transport} ${line.note}`)
}

/** The variable without which the webhook of the carrier that was selected is believed unseen. */
function uncheckedWebhook({ transport, proxy, telephony }: RunnerConfig): string | undefined {
  if (transport === undefined || proxy === undefined) return undefined
  const secret = WEBHOOK_SECRETS.find((one) => one.transport === transport)
  return secret === undefined || telephony.webhookSecrets?.[secret.key] !== undefined
    ? undefined
    : secret.variable
}

function isProxyIdle({ proxy, transport, dialin, whatsapp }: RunnerConfig): boolean {
  if (proxy === undefined || dialin || whatsapp) return false
  return transport === 'webrtc' || transport === 'room'
}
