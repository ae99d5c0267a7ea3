import { CONDITIONS } from '../options/conditions.ts'
import type { ScaffoldKey } from '../options/option.ts'
import { SCAFFOLD_OPTIONS } from '../options/table.ts'
import { TRANSPORT_KINDS } from '../options/transports.ts'
import { makeDraft } from './draft.ts'
import type { Given, GivenOptions } from './given.ts'

/** What was given, without what the file says and what is typed has made void. */
export interface Overruled {
  readonly given: GivenOptions
  /** What was left out, for people. */
  readonly notices: readonly string[]
}

/** What is typed wins over the file, also over those of its fields that make sense no longer. */
export function overrule(all: GivenOptions, isUnknown: (key: ScaffoldKey) => boolean): Overruled {
  const given = new Map(all)
  const notices: string[] = []
  const leaveOut = (key: ScaffoldKey, one: Given, by: readonly ScaffoldKey[]): void => {
    given.delete(key)
    const typed = by.flatMap((decider) => spelledIfTyped(all, decider))
    notices.push(`${one.spelled} does not count, because of ${typed.join(' and ')}.`)
  }
  const type = given.get('botType')
  if (type?.from === 'file' && contradictsTransports(given, type)) leaveOut('botType', type, ['transports'])
  const draft = makeDraft(given, isUnknown)
  for (const { key, applies } of SCAFFOLD_OPTIONS) {
    const one = given.get(key)
    if (one?.from !== 'file' || one.value === false || applies === undefined) continue
    const { holds, deciders } = CONDITIONS[applies]
    const isVoid = holds(draft) === false || (key === 'clientServer' && isForReact(one, given))
    if (isVoid && deciders.some((decider) => isTyped(given, decider))) leaveOut(key, one, deciders)
  }
  return { given, notices }
}

function contradictsTransports(given: GivenOptions, { value }: Given): boolean {
  const transports = given.get('transports')
  if (transports?.from !== 'flag' || !Array.isArray(transports.value)) return false
  const ids: readonly unknown[] = transports.value
  const phones = Object.entries(TRANSPORT_KINDS).filter(([, { telephony }]) => telephony)
  const isPhone = phones.some(([id]) => ids.includes(id))
  return value === 'web' ? isPhone : !isPhone
}

function isForReact({ value }: Given, given: GivenOptions): boolean {
  return value === 'nextjs' && given.get('clientFramework')?.value === 'vanilla'
}

function isTyped(given: GivenOptions, key: ScaffoldKey): boolean {
  return given.get(key)?.from === 'flag'
}

function spelledIfTyped(given: GivenOptions, key: ScaffoldKey): readonly string[] {
  const one = given.get(key)
  return one?.from === 'flag' ? [one.spelled] : []
}
