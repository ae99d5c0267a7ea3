import type { Configuration } from '../configuration.ts'
import type { EnvVariable } from '../plan.ts'
import { SERVICE_VARIABLES, type Service, type Value } from '../services/index.ts'
import { type Carrier, type Traits, traitsOf, valuesOf } from './traits.ts'

/** A variable, and who looks at it. */
export interface ProjectVariable extends EnvVariable {
  /** The code of the project, a library that it uses, or the runner. Required ones are checked by the project. */
  readonly readBy: 'project' | 'library' | 'runner'
  /** What it belongs to, as a heading of the env file. */
  readonly group: string
}

/** Where the carrier's API is, unless an account is in another region. */
export const CARRIER_A_API_URL = 'https://api.twilio.com/2010-04-01'
/** Where the call server finds the runner. */
export const START_URL = 'http://localhost:7860/start'
/** Where the call server listens. */
export const CALL_SERVER_HOST = 'localhost'
export const CALL_SERVER_PORT = '8080'

const CATEGORY_NAMES = {
  stt: 'speech to text',
  llm: 'language model',
  tts: 'text to speech',
  realtime: 'speech to speech',
  video: 'video avatar',
} as const

/** Every variable that a project reads, each once, in the order of the env file. */
export function projectVariables(configuration: Configuration): readonly ProjectVariable[] {
  const traits = traitsOf(configuration)
  const all = [
    ...traits.services.flatMap(ofService),
    ...ofRooms(configuration, traits),
    ...ofCarriers(traits),
    ...ofCallServer(traits),
    ...(configuration.observability ? [ofTraces()] : []),
  ]
  const merged = new Map<string, ProjectVariable>()
  for (const variable of all) {
    const known = merged.get(variable.name)
    merged.set(variable.name, known === undefined ? variable : both(known, variable))
  }
  return inGroups([...merged.values()])
}

/** The same, as far as others need to know them. */
export function envVariables(configuration: Configuration): readonly EnvVariable[] {
  return projectVariables(configuration).map(({ name, required, fallback, hint }) => ({
    name,
    required,
    ...(fallback === undefined ? {} : { fallback }),
    hint,
  }))
}

/** Two uses of one variable: it is required when one of them requires it, and a default that differs is none. */
function both(a: ProjectVariable, b: ProjectVariable): ProjectVariable {
  const { fallback, ...rest } = a
  const required = a.required || b.required
  const keeps = !required && fallback !== undefined && fallback === b.fallback
  const readBy = a.readBy === 'project' || b.readBy === 'project' ? 'project' : a.readBy
  const hint = a.required || !b.required ? a.hint : b.hint
  return { ...rest, required, readBy, hint, ...(keeps ? { fallback } : {}) }
}

function inGroups(variables: readonly ProjectVariable[]): readonly ProjectVariable[] {
  return [...new Set(variables.map(({ group }) => group))].flatMap((group) =>
    variables.filter((variable) => variable.group === group),
  )
}

function ofService(service: Service): readonly ProjectVariable[] {
  const group = `${service.label} (${CATEGORY_NAMES[service.category]})`
  return [
    ...valuesOf(service).flatMap((value) => ofValue(value, group)),
    ...(service.libraryReads ?? []).map(
      ({ variable, required }): ProjectVariable => ({
        name: variable,
        required,
        hint: hintOf(variable),
        readBy: 'library',
        group,
      }),
    ),
  ]
}

function ofValue(value: Value, group: string): readonly ProjectVariable[] {
  if (value.kind !== 'required' && value.kind !== 'optional' && value.kind !== 'either') return []
  const fallback =
    value.kind === 'optional' ? value.libraryDefault : value.kind === 'either' ? value.fallback : undefined
  return [
    {
      name: value.variable,
      required: value.kind === 'required',
      ...(fallback === undefined ? {} : { fallback }),
      hint: hintOf(value.variable),
      readBy: 'project',
      group,
    },
  ]
}

function hintOf(variable: string): string {
  return SERVICE_VARIABLES[variable] ?? variable
}

function ofRooms(
  { transports }: Configuration,
  { inRooms, plain, callFlow }: Traits,
): readonly ProjectVariable[] {
  if (!inRooms) return []
  const group = 'Rooms'
  const required = callFlow !== undefined || plain.length === 0
  const where = 'Daily: https://dashboard.daily.co/developers'
  const key: ProjectVariable = {
    name: 'ROOM_API_KEY',
    required,
    hint: required ? where : `${where} (only for calls in rooms)`,
    readBy: 'runner',
    group,
  }
  const optional = (name: string, hint: string): ProjectVariable => ({
    name,
    required: false,
    hint,
    readBy: 'runner',
    group,
  })
  return [
    key,
    ...(transports.includes('room')
      ? [optional('ROOM_SAMPLE_ROOM_URL', 'A room of yours, to be used instead of a fresh one for each call')]
      : []),
    ...(callFlow?.by === 'pstn' && callFlow.mode === 'dial-in'
      ? [
          optional(
            'ROOM_DIALIN_SECRET',
            'The secret of your dial-in settings; then only signed calls are taken',
          ),
        ]
      : []),
  ]
}

const CARRIER_VARIABLES: Readonly<Record<Carrier, readonly (readonly [string, string])[]>> = {
  telephony_a: [
    ['TELEPHONY_A_ACCOUNT_ID', 'Twilio: https://console.twilio.com (Account SID), to hang up calls'],
    ['TELEPHONY_A_AUTH_TOKEN', 'Twilio: beside it (Auth Token); also checks who calls the webhook'],
  ],
  telephony_b: [
    ['TELEPHONY_B_API_KEY', 'Telnyx: https://portal.telnyx.com (API keys), to hang up calls'],
    ['TELEPHONY_B_PUBLIC_KEY', 'Telnyx: the public key of your account; checks who calls the webhook'],
  ],
  telephony_c: [
    ['TELEPHONY_C_AUTH_ID', 'Plivo: https://console.plivo.com (Auth ID), to hang up calls'],
    ['TELEPHONY_C_AUTH_TOKEN', 'Plivo: beside it (Auth Token); also checks who calls the webhook'],
  ],
  telephony_d: [],
}

const CARRIER_GROUPS: Readonly<Record<Carrier, string>> = {
  telephony_a: 'Twilio',
  telephony_b: 'Telnyx',
  telephony_c: 'Plivo',
  telephony_d: 'Exotel',
}

function ofCarriers({ carriers, callFlow }: Traits): readonly ProjectVariable[] {
  const used = carriers.flatMap((carrier) =>
    CARRIER_VARIABLES[carrier].map(
      ([name, hint]): ProjectVariable => ({
        name,
        required: false,
        hint,
        readBy: 'runner',
        group: CARRIER_GROUPS[carrier],
      }),
    ),
  )
  if (callFlow?.by !== 'sip' || callFlow.mode !== 'dial-in') return used
  const group = CARRIER_GROUPS.telephony_a
  return [
    {
      name: 'TELEPHONY_A_ACCOUNT_ID',
      required: true,
      hint: 'Twilio: https://console.twilio.com (Account SID)',
      readBy: 'project',
      group,
    },
    {
      name: 'TELEPHONY_A_AUTH_TOKEN',
      required: true,
      hint: 'Twilio: https://console.twilio.com (Auth Token, beside the Account SID)',
      readBy: 'project',
      group,
    },
    {
      name: 'TELEPHONY_A_API_URL',
      required: false,
      fallback: CARRIER_A_API_URL,
      hint: 'Where its API is, for accounts in another region',
      readBy: 'project',
      group,
    },
    ...used,
  ]
}

/** Whether a project has a server of its own for its calls. */
export function hasCallServer({ callFlow }: Traits): boolean {
  return callFlow !== undefined && !(callFlow.by === 'pstn' && callFlow.mode === 'dial-in')
}

function ofCallServer(traits: Traits): readonly ProjectVariable[] {
  if (!hasCallServer(traits)) return []
  const one = (name: string, hint: string, fallback?: string): ProjectVariable => ({
    name,
    required: false,
    ...(fallback === undefined ? {} : { fallback }),
    hint,
    readBy: 'project',
    group: 'Call server (server.py)',
  })
  return [
    one('BOT_START_URL', 'Where bots are started: the runner here, or your agent in the cloud', START_URL),
    one('BOT_START_KEY', 'The public key of your agent, when that address is in the cloud'),
    one('CALL_SERVER_HOST', 'Address to listen on', CALL_SERVER_HOST),
    one('CALL_SERVER_PORT', 'Port to listen on', CALL_SERVER_PORT),
    ...(traits.callFlow?.mode === 'dial-out'
      ? [one('DIALOUT_TOKEN', 'Only who sends this word as a bearer token may start calls')]
      : []),
  ]
}

function ofTraces(): ProjectVariable {
  return {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    required: false,
    hint: 'Where an OpenTelemetry collector takes traces, for example http://localhost:4318; without it none are sent',
    readBy: 'project',
    group: 'Observability',
  }
}
