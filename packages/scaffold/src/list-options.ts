import { BOT_TYPES } from './configuration.ts'
import { TELEPHONY_TRANSPORTS, WEB_TRANSPORTS } from './options/transports.ts'
import { servicesOf } from './services/index.ts'

/** What `--list-options` prints. */
export interface OptionList {
  readonly bot_type: readonly string[]
  readonly transports: { readonly web: readonly string[]; readonly telephony: readonly string[] }
  readonly stt: readonly string[]
  readonly llm: readonly string[]
  readonly tts: readonly string[]
  readonly realtime: readonly string[]
  readonly video: readonly string[]
}

/** Every bot type, transport and service. */
export function listOptions(): OptionList {
  return {
    bot_type: BOT_TYPES,
    transports: { web: WEB_TRANSPORTS, telephony: TELEPHONY_TRANSPORTS },
    stt: idsOf('stt'),
    llm: idsOf('llm'),
    tts: idsOf('tts'),
    realtime: idsOf('realtime'),
    video: idsOf('video'),
  }
}

function idsOf(category: Parameters<typeof servicesOf>[0]): readonly string[] {
  return servicesOf(category).map(({ id }) => id)
}
