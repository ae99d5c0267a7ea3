import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { SERVICE_CATEGORIES } from '../configuration.ts'
import { valuesOf } from '../server/traits.ts'
import {
  canSee,
  SERVICE_VARIABLES,
  SERVICES,
  type Service,
  type ServiceParameters,
  serviceById,
  servicesOf,
} from './index.ts'

/** What the peer's release of the same library has, read off its real output. */
interface PeerService {
  readonly id: string
  readonly category: string
  readonly label: string
  readonly class: string
  readonly module: string
  readonly extras: readonly string[]
  readonly python: string
  readonly session: boolean
  /** Paths of parameters, with `.` between their parts. */
  readonly parameters: readonly string[]
  readonly env: readonly { readonly name: string; readonly required: boolean; readonly default?: string }[]
}

const PEER: readonly PeerService[] = JSON.parse(
  readFileSync(new URL('../testing/services-1.14.json', import.meta.url), 'utf8'),
)

/** Its ids without a suffix get one. */
const RENAMED = new Map([
  ['ultravox', 'ultravox_realtime'],
  ['azure_voice_live', 'azure_voice_live_realtime'],
])
/** What we do otherwise, because the peer's way does not work or is not good; each with the reason. */
const OTHER_PARAMETERS: Readonly<
  Record<string, { readonly not?: readonly string[]; readonly also?: readonly string[] }>
> = {
  // The peer's field does not exist on this class, so there was no transcript of the caller.
  azure_realtime: {
    not: ['settings.session_properties.input_audio_transcription.model'],
    also: ['settings.session_properties.audio.input.transcription.model'],
  },
  // The service makes sound of one rate only, and labels it with that of the pipeline.
  openai_tts: { also: ['sample_rate'] },
  gemini_tts: { also: ['sample_rate'] },
  // From a container, Ollama is somewhere else.
  ollama_llm: { also: ['base_url'] },
  // Calls would end after three minutes.
  ultravox: { not: ['params.max_duration.minutes'] },
}
const OTHER_VARIABLES: Readonly<
  Record<string, { readonly not?: readonly string[]; readonly also?: readonly string[] }>
> = {
  ollama_llm: { also: ['OLLAMA_BASE_URL'] },
  // The prompt is in the code, as for every service.
  ultravox: { not: ['ULTRAVOX_SYSTEM_PROMPT'] },
}
/** Voices that these services lack and that we know. */
const OWN_VOICES = new Set(['KOKORO_VOICE_ID', 'PIPER_VOICE_ID'])

const without = (all: readonly string[], some: readonly string[] = []) =>
  all.filter((one) => !some.includes(one))

it('has every service of the peer, in its order, with an id that says what it is', () => {
  expect(SERVICES.map(({ id }) => id)).toEqual(PEER.map(({ id }) => RENAMED.get(id) ?? id))
  for (const { id, category } of SERVICES) expect(id).toMatch(new RegExp(`^[a-z0-9_]+_${category}$`))
  expect(SERVICE_CATEGORIES.flatMap(servicesOf)).toEqual(SERVICES)
  expect(serviceById('no_such_stt')).toBeUndefined()
})

describe.each(PEER)('$id', (peer) => {
  const service = serviceById(RENAMED.get(peer.id) ?? peer.id) as Service

  it('is the same class, with the same extras, for the same Python', () => {
    expect(service).toMatchObject({
      category: peer.category,
      label: peer.label,
      className: peer.class,
      module: peer.module.replace('pipecat.services.', ''),
      extras: peer.extras,
    })
    expect(service.python ?? '3.11').toBe(peer.python)
    expect(valuesOf(service).some(({ kind }) => kind === 'session')).toBe(peer.session)
  })

  it('gets the same parameters, but for what does not work', () => {
    const { not, also } = OTHER_PARAMETERS[peer.id] ?? {}
    // A path of a key file is what people have, and what the env file asks for.
    const expected = [...without(peer.parameters, not), ...(also ?? [])].map((path) =>
      path === 'credentials' ? 'credentials_path' : path,
    )
    const settings = service.settings === undefined ? [] : pathsOf(service.settings, 'settings.')
    expect([...pathsOf(service.parameters), ...settings].sort()).toEqual(expected.sort())
  })

  it('reads the same variables, and requires the same', () => {
    const { not, also } = OTHER_VARIABLES[peer.id] ?? {}
    const variables = variablesOf(service)
    expect([...variables.keys()].sort()).toEqual(
      [
        ...without(
          peer.env.map(({ name }) => name),
          not,
        ),
        ...(also ?? []),
      ].sort(),
    )
    for (const { name, required, default: fallback } of peer.env) {
      const ours = variables.get(name)
      if (ours === undefined || OWN_VOICES.has(name)) continue
      expect([name, ours.required]).toEqual([name, required])
      if (!required && fallback !== undefined) expect([name, ours.fallback]).toEqual([name, fallback])
    }
  })

  it('says where each of them comes from, in one line', () => {
    for (const name of variablesOf(service).keys()) expect(SERVICE_VARIABLES[name]).toMatch(/^\S.{3,150}\S$/)
  })
})

it('sees by every language model, which asks for pictures, and by services that look by themselves', () => {
  const seeing = servicesOf('realtime').filter(({ id }) => canSee({ mode: 'realtime', realtime: id }))
  expect(seeing.map(({ id }) => id)).toEqual([
    'azure_realtime',
    'gemini_live_realtime',
    'gemini_vertex_live_realtime',
    'openai_realtime',
  ])
  expect(canSee({ mode: 'cascade' })).toBe(true)
  expect(canSee({ mode: 'realtime' })).toBe(false)
})

it('explains no variable that no service reads', () => {
  const read = new Set(SERVICES.flatMap((service) => [...variablesOf(service).keys()]))
  expect(Object.keys(SERVICE_VARIABLES).filter((name) => !read.has(name))).toEqual([])
})

it('says for each required key where to get it', () => {
  const keys = SERVICES.flatMap((service) => [...variablesOf(service)])
    .filter(([, { required }]) => required)
    .map(([name]) => name)
  for (const name of keys.filter((name) => name.endsWith('_API_KEY'))) {
    expect(SERVICE_VARIABLES[name]).toMatch(/https:\/\//)
  }
})

function pathsOf(parameters: ServiceParameters, before = ''): readonly string[] {
  return Object.entries(parameters).flatMap(([name, value]) => {
    const inner = value.kind === 'object' ? pathsOf(value.parameters, `${before}${name}.`) : []
    return inner.length > 0 ? inner : [`${before}${name}`]
  })
}

function variablesOf(
  service: Service,
): Map<string, { readonly required: boolean; readonly fallback?: string }> {
  const found = new Map<string, { readonly required: boolean; readonly fallback?: string }>()
  for (const value of valuesOf(service)) {
    if (value.kind === 'required') found.set(value.variable, { required: true })
    if (value.kind === 'either') found.set(value.variable, { required: false, fallback: value.fallback })
    if (value.kind === 'optional') {
      const fallback = value.libraryDefault
      found.set(value.variable, { required: false, ...(fallback === undefined ? {} : { fallback }) })
    }
  }
  for (const { variable, required } of service.libraryReads ?? []) found.set(variable, { required })
  return found
}
