import type { Configuration, ScaffoldTransport } from '../configuration.ts'
import { QUICKSTART_CONFIGURATION } from '../resolve/quickstart.ts'
import { SERVICES, type Service } from '../services/index.ts'

/** A configuration with a name of its own. */
export interface Case {
  readonly name: string
  readonly configuration: Configuration
}

const BASE: Configuration = {
  ...QUICKSTART_CONFIGURATION,
  names: { title: 'My Bot', python: 'my-bot', npm: 'my-bot', agent: 'my-bot' },
  transports: ['webrtc'],
  llm: 'openai_llm',
  deployToCloud: false,
}

const REALTIME = { mode: 'realtime', realtime: 'openai_realtime' } as const

/** The plain bot, with changes. What the other mode needs is left out. */
export function configured(changes: Partial<Configuration> = {}): Configuration {
  const { stt, llm, tts, ...rest } = BASE
  return changes.mode === 'realtime'
    ? { ...rest, ...changes }
    : ({ ...rest, stt, llm, tts, ...changes } as Configuration)
}

function withService(service: Service, telephony: boolean): Configuration {
  const place = telephony ? ({ botType: 'telephony', transports: ['telephony_a'] } as const) : {}
  if (service.category === 'realtime') {
    return configured({ ...place, mode: 'realtime', realtime: service.id })
  }
  if (service.category === 'video') return configured({ video: service.id, videoOutput: true })
  return configured({ ...place, [service.category]: service.id })
}

/** Each service alone in its category, on the web and on the phone. */
export function serviceCases(): readonly Case[] {
  return SERVICES.flatMap((service) => [
    { name: service.id, configuration: withService(service, false) },
    ...(service.category === 'video'
      ? []
      : [{ name: `${service.id}-phone`, configuration: withService(service, true) }]),
  ])
}

const TRANSPORTS: readonly (Partial<Configuration> & {
  readonly transports: readonly ScaffoldTransport[]
})[] = [
  { transports: ['room'] },
  { transports: ['webrtc'] },
  { transports: ['websocket'] },
  { transports: ['webrtc', 'room'] },
  { transports: ['room', 'webrtc', 'websocket'] },
  { transports: ['telephony_a'] },
  { transports: ['telephony_b'] },
  { transports: ['telephony_c'] },
  { transports: ['telephony_d'] },
  { transports: ['telephony_a', 'telephony_b', 'telephony_c', 'telephony_d', 'webrtc'] },
  { transports: ['telephony_a', 'room'] },
  { transports: ['room_pstn'], pstnMode: 'dial-in' },
  { transports: ['room_pstn'], pstnMode: 'dial-out' },
  { transports: ['room_pstn', 'webrtc'], pstnMode: 'dial-in' },
  { transports: ['room_pstn', 'webrtc'], pstnMode: 'dial-out' },
  { transports: ['room_pstn', 'websocket'], pstnMode: 'dial-out' },
  { transports: ['telephony_a_room_sip'], sipMode: 'dial-in' },
  { transports: ['telephony_a_room_sip'], sipMode: 'dial-out' },
  { transports: ['telephony_a_room_sip', 'webrtc'], sipMode: 'dial-in' },
  { transports: ['telephony_a_room_sip', 'room'], sipMode: 'dial-out' },
]

const WEB: readonly ScaffoldTransport[] = ['room', 'webrtc', 'websocket']

/** Every way to reach a bot, in both modes, with and without evals and cloud. */
export function transportCases(): readonly Case[] {
  return TRANSPORTS.flatMap((kind) =>
    [{}, REALTIME].flatMap((mode) =>
      [false, true].flatMap((evals) =>
        [false, true].map((deployToCloud) => {
          const botType = kind.transports.every((transport) => WEB.includes(transport)) ? 'web' : 'telephony'
          const call = kind.pstnMode ?? kind.sipMode ?? ''
          const name = [
            ...kind.transports,
            call,
            'mode' in mode ? 'realtime' : 'cascade',
            evals ? 'evals' : '',
            deployToCloud ? 'cloud' : '',
          ]
          return {
            name: name.filter((part) => part !== '').join('-'),
            configuration: configured({ ...kind, ...mode, botType, evals, deployToCloud }),
          }
        }),
      ),
    ),
  )
}

const FEATURES = {
  recording: { recording: true },
  transcription: { transcription: true },
  videoInput: { videoInput: true },
  videoOutput: { videoOutput: true },
  avatar: { video: 'heygen_video', videoOutput: true },
  noiseFilter: { noiseFilter: true, deployToCloud: true },
  observability: { observability: true },
  evals: { evals: true },
  session: { stt: 'elevenlabs_stt', tts: 'xtts_tts' },
} as const satisfies Readonly<Record<string, Partial<Configuration>>>

/** All features pairwise: on the web with and without WebRTC, and on the phone. */
export function featureCases(): readonly Case[] {
  const names = Object.keys(FEATURES) as (keyof typeof FEATURES)[]
  const pairs = names.flatMap((first, index) => names.slice(index).map((second) => [first, second] as const))
  return pairs.flatMap(([first, second]) => {
    const features = { ...FEATURES[first], ...FEATURES[second] }
    const name = `${first}-${second}`
    const web = [['webrtc'], ['room'], ['room', 'webrtc', 'websocket']] as const
    const onWeb = web.map((transports) => ({
      name: `${name}-${transports.join('-')}`,
      configuration: configured({ ...features, transports }),
    }))
    if ([first, second].some((feature) => /video|avatar/.test(feature))) return onWeb
    const phone = configured({
      ...features,
      botType: 'telephony',
      transports: ['telephony_a_room_sip'],
      sipMode: 'dial-in',
    })
    return [...onWeb, { name: `${name}-phone`, configuration: phone }]
  })
}

/** The three clients, with what changes them. */
export function clientCases(): readonly Case[] {
  const clients = [
    { clientFramework: 'react', clientServer: 'vite' },
    { clientFramework: 'react', clientServer: 'nextjs' },
    { clientFramework: 'vanilla', clientServer: 'vite' },
  ] as const
  const transports = [['webrtc'], ['room'], ['websocket'], ['room', 'webrtc', 'websocket']] as const
  return clients.flatMap((client) =>
    transports.flatMap((ways) =>
      [false, true].map((video) => ({
        name: `${client.clientFramework}-${client.clientServer}-${ways.join('-')}${video ? '-video' : ''}`,
        configuration: configured({ ...client, transports: ways, videoInput: video, videoOutput: video }),
      })),
    ),
  )
}

/** Everything. */
export function allCases(): readonly Case[] {
  return [...serviceCases(), ...transportCases(), ...featureCases(), ...clientCases()]
}
