import type { ClientServer, Configuration } from '../configuration.ts'

/** The transports that a browser can use. */
const BROWSER_TRANSPORTS = ['webrtc', 'websocket', 'room'] as const
export type BrowserTransport = (typeof BROWSER_TRANSPORTS)[number]

/** What parts of the templates can depend on. */
export type Feature = BrowserTransport | 'noRoom' | 'camera' | 'botVideo' | 'video'

/** The kinds of client; each has a folder of templates. */
export const CLIENT_KINDS = ['react-vite', 'react-nextjs', 'vanilla'] as const
export type ClientKind = (typeof CLIENT_KINDS)[number]

/** The kind of client of a project, if it has one. */
export function clientKind(configuration: Configuration): ClientKind | undefined {
  if (configuration.clientFramework === 'none') return undefined
  if (configuration.clientFramework === 'vanilla') return 'vanilla'
  const server: ClientServer = configuration.clientServer ?? 'vite'
  return `react-${server}`
}

/** The features that a project's client has. Video does not travel through a plain WebSocket. */
export function clientFeatures(configuration: Configuration): ReadonlySet<Feature> {
  const { transports, video, videoInput, videoOutput } = configuration
  const used = BROWSER_TRANSPORTS.filter((transport) => transports.includes(transport))
  const carriesVideo = used.some((transport) => transport !== 'websocket')
  const camera = carriesVideo && videoInput
  const botVideo = carriesVideo && (videoOutput || video !== undefined)
  return new Set<Feature>([
    ...used,
    ...(used.includes('room') ? [] : (['noRoom'] as const)),
    ...(camera ? (['camera'] as const) : []),
    ...(botVideo ? (['botVideo'] as const) : []),
    ...(camera || botVideo ? (['video'] as const) : []),
  ])
}
