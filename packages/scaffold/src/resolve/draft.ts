import {
  BOT_TYPES,
  type BotType,
  CLIENT_FRAMEWORKS,
  type ClientFramework,
  MODES,
  type Mode,
  SCAFFOLD_TRANSPORTS,
  type ScaffoldTransport,
} from '../configuration.ts'
import { nearest } from '../nearest.ts'
import type { Draft } from '../options/conditions.ts'
import type { FlagValues, ScaffoldKey } from '../options/option.ts'
import { TRANSPORT_KINDS } from '../options/transports.ts'
import { servicesOf } from '../services/index.ts'
import { type GivenOptions, gather } from './given.ts'

/** What can be told of a project, with what follows from the rest where it was left out. */
export function makeDraft(given: GivenOptions, isUnknown: (key: ScaffoldKey) => boolean): Draft {
  const { transports, rightTransports } = transportsOf(given)
  const botType = isUnknown('botType') ? undefined : inferBotType(given, transports, rightTransports)
  const mode = isUnknown('mode') ? undefined : (meantMode(given) ?? likelyMode(given))
  const realtime = oneOf(
    servicesOf('realtime').map(({ id }) => id),
    given.get('realtime')?.value,
  )
  const clientFramework = isUnknown('clientFramework') ? undefined : inferFramework(given)
  const cloud = isUnknown('deployToCloud') ? undefined : given.get('deployToCloud')?.value !== false
  return {
    rightTransports,
    ...(transports === undefined ? {} : { transports }),
    ...(botType === undefined ? {} : { botType }),
    ...(mode === undefined ? {} : { mode }),
    ...(realtime === undefined ? {} : { realtime }),
    ...(clientFramework === undefined ? {} : { clientFramework }),
    ...(cloud === undefined ? {} : { deployToCloud: cloud }),
  }
}

/** What can be told of a project from options alone, such as which questions are still to be asked. */
export function draftOf(flags: FlagValues): Draft {
  return makeDraft(gather(flags, undefined, undefined), () => false)
}

/** The mode that was given, or that the word for it is near to, so that a typing mistake hides nothing else. */
function meantMode(given: GivenOptions): Mode | undefined {
  const value = given.get('mode')?.value
  return typeof value === 'string' ? oneOf(MODES, oneOf(MODES, value) ?? nearest(value, MODES)) : undefined
}

/** The mode that the services belong to, if they belong to one. */
export function likelyMode(given: GivenOptions): Mode | undefined {
  const cascade = given.has('stt') || given.has('llm') || given.has('tts')
  const realtime = given.has('realtime')
  if (cascade === realtime) return undefined
  return cascade ? 'cascade' : 'realtime'
}

/** One of some words, if it is one. */
export function oneOf<T extends string>(words: readonly T[], value: unknown): T | undefined {
  return words.find((word) => word === value)
}

/** The transports that were given: those that are right, and all of them if there are some and no other. */
function transportsOf(
  given: GivenOptions,
): Pick<Draft, 'transports'> & Required<Pick<Draft, 'rightTransports'>> {
  const value = given.get('transports')?.value
  if (!Array.isArray(value) || value.length === 0) return { rightTransports: [] }
  const right = value.flatMap((id) => oneOf(SCAFFOLD_TRANSPORTS, id) ?? [])
  const rightTransports = [...new Set(right)]
  return right.length === value.length
    ? { transports: rightTransports, rightTransports }
    : { rightTransports }
}

function inferBotType(
  given: GivenOptions,
  transports: readonly ScaffoldTransport[] | undefined,
  rightTransports: readonly ScaffoldTransport[],
): BotType | undefined {
  const typed = given.get('botType')
  if (typed !== undefined) return oneOf(BOT_TYPES, typed.value)
  if (rightTransports.some((id) => TRANSPORT_KINDS[id].telephony)) return 'telephony'
  return transports === undefined ? undefined : 'web'
}

function inferFramework(given: GivenOptions): ClientFramework | undefined {
  const typed = given.get('clientFramework')
  return typed === undefined ? 'none' : oneOf(CLIENT_FRAMEWORKS, typed.value)
}
