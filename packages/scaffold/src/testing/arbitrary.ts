import fc from 'fast-check'
import type { Configuration } from '../configuration.ts'
import { allowedValues } from '../options/allowed.ts'
import type { FlagValues, ScaffoldOption } from '../options/option.ts'
import { SCAFFOLD_OPTIONS } from '../options/table.ts'
import { resolve } from '../resolve/resolve.ts'
import { servicesOf } from '../services/index.ts'

/** Options of any kind, mostly with values that exist. */
export const anyFlags: fc.Arbitrary<FlagValues> = fc.record(
  Object.fromEntries(SCAFFOLD_OPTIONS.map((option) => [option.key, anyValue(option)])),
  { requiredKeys: [] },
)

function anyValue(option: ScaffoldOption): fc.Arbitrary<unknown> {
  if (option.kind === 'toggle') return fc.boolean()
  const allowed = allowedValues(option)
  const text = fc.string({ unit: 'grapheme' })
  if (allowed === undefined) return text
  const word = fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...allowed) }, { weight: 1, arbitrary: text })
  return option.kind === 'choices' ? fc.array(word, { maxLength: 4 }) : word
}

function serviceId(category: Parameters<typeof servicesOf>[0]): fc.Arbitrary<string> {
  return fc.constantFrom(...servicesOf(category).map(({ id }) => id))
}

const web = fc.record(
  {
    transports: fc.uniqueArray(fc.constantFrom('room', 'webrtc', 'websocket'), { minLength: 1 }),
    video: serviceId('video'),
    videoInput: fc.boolean(),
    videoOutput: fc.boolean(),
    clientFramework: fc.constantFrom('react', 'vanilla', 'none'),
    clientServer: fc.constantFrom('vite', 'nextjs'),
  },
  { requiredKeys: ['transports'] },
)
const carriers = ['telephony_a', 'telephony_b', 'telephony_c', 'telephony_d']
const phone = fc.oneof(
  fc.record({
    transports: fc.uniqueArray(fc.constantFrom(...carriers, 'webrtc', 'websocket'), { minLength: 1 }),
    botType: fc.constant('telephony'),
  }),
  fc.record({
    transports: fc.constantFrom(['room_pstn'], ['room_pstn', 'webrtc'], ['room', 'room_pstn']),
    pstnMode: fc.constantFrom('dial-in', 'dial-out'),
  }),
  fc.record({
    transports: fc.constantFrom(['telephony_a_room_sip'], ['webrtc', 'telephony_a_room_sip']),
    sipMode: fc.constantFrom('dial-in', 'dial-out'),
  }),
)
const services = fc.oneof(
  fc.record({
    mode: fc.constant('cascade'),
    stt: serviceId('stt'),
    llm: serviceId('llm'),
    tts: serviceId('tts'),
  }),
  fc.record({ mode: fc.constant('realtime'), realtime: serviceId('realtime') }),
)
const features = fc.record({
  name: fc.constantFrom('my-bot', 'My Bot', '-x', "Tom's bot", 'Büro 24'),
  recording: fc.boolean(),
  transcription: fc.boolean(),
  deployToCloud: fc.boolean(),
  noiseFilter: fc.boolean(),
  observability: fc.boolean(),
  evals: fc.boolean(),
})

/** Any complete configuration, made by the resolver itself. */
export const anyConfiguration: fc.Arbitrary<Configuration> = fc
  .tuple(fc.oneof(web, phone), services, features)
  .map((parts): FlagValues => Object.assign({}, ...parts))
  .map((flags) => resolve({ flags, directoryName: 'project' }))
  .filter((resolution) => resolution.ok)
  .map(({ configuration }) => configuration)
