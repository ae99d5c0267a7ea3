import { type Mode, SERVICE_CATEGORIES, type ServiceCategory } from '../configuration.ts'
import { LLM_SERVICES } from './llm.ts'
import { REALTIME_SERVICES } from './realtime.ts'
import type { Service, ServiceFacts } from './service.ts'
import { STT_SERVICES } from './stt.ts'
import { TTS_SERVICES } from './tts.ts'
import { VIDEO_SERVICES } from './video.ts'

export type { PictureSize, PythonVersion, Service, ServiceParameters, Value } from './service.ts'
export { SERVICE_VARIABLES } from './variables.ts'

const LISTS: Readonly<Record<ServiceCategory, readonly ServiceFacts[]>> = {
  stt: STT_SERVICES,
  llm: LLM_SERVICES,
  tts: TTS_SERVICES,
  realtime: REALTIME_SERVICES,
  video: VIDEO_SERVICES,
}

/** Every service that a bot can have, in the order in which they are listed. */
export const SERVICES: readonly Service[] = SERVICE_CATEGORIES.flatMap((category) =>
  LISTS[category].map((facts) => ({ ...facts, category })),
)

const BY_ID = new Map(SERVICES.map((service) => [service.id, service]))

/** The service with this id. */
export function serviceById(id: string): Service | undefined {
  return BY_ID.get(id)
}

/** What decides whether a bot can look at its caller. */
interface Looker {
  readonly mode: Mode
  readonly realtime?: string | undefined
}

/** Whether a bot can make something of video: language models ask for pictures, other services look by themselves or never. */
export function canSee({ mode, realtime }: Looker): boolean {
  return mode === 'cascade' || (realtime !== undefined && serviceById(realtime)?.sees === true)
}

/** The services of a category. */
export function servicesOf(category: ServiceCategory): readonly Service[] {
  return SERVICES.filter((service) => service.category === category)
}
