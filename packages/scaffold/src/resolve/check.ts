import { MODES } from '../configuration.ts'
import { nearest } from '../nearest.ts'
import { allowedValues, choicesOf } from '../options/allowed.ts'
import { CONDITIONS, type Draft } from '../options/conditions.ts'
import type { ScaffoldKey, ScaffoldOption } from '../options/option.ts'
import { SCAFFOLD_OPTIONS } from '../options/table.ts'
import { likelyMode } from './draft.ts'
import type { Given, GivenOptions } from './given.ts'
import { type Problem, quoted } from './problem.ts'

/** What is wrong with each option by itself: unknown values, missing ones, and ones without effect. */
export function optionProblems(
  given: GivenOptions,
  draft: Draft,
  isUnknown: (key: ScaffoldKey) => boolean,
): readonly Problem[] {
  return SCAFFOLD_OPTIONS.flatMap((option) => {
    const one = given.get(option.key)
    const condition = option.applies === undefined ? undefined : CONDITIONS[option.applies]
    const applies = condition === undefined ? true : condition.holds(draft)
    if (one === undefined || isEmptyList(one)) {
      const missing = option.required === true && applies === true && !isUnknown(option.key)
      return missing ? [missingOption(option, given)] : []
    }
    if (applies === false && one.value !== false) {
      return [noEffect(option, one, condition?.otherwise(draft) ?? '')]
    }
    return valueProblems(option, one)
  })
}

function missingOption(option: ScaffoldOption, given: GivenOptions): Problem {
  const allowed = allowedValues(option)
  const suggestion = option.key === 'mode' ? likelyMode(given) : undefined
  // The values are listed by themselves.
  const purpose = allowed === undefined ? option.help : option.help.replace(/:.*$/, '.')
  return {
    ...about(option),
    code: 'missing',
    message: `--${option.flag} is missing. ${purpose}${option.key === 'mode' ? needsOfModes(given) : ''}`,
    ...(allowed === undefined ? {} : { allowed }),
    ...(suggestion === undefined ? {} : { suggestion }),
  }
}

/** What each mode asks for, as long as it cannot be told which one is meant, so that nothing comes up only later. */
function needsOfModes(given: GivenOptions): string {
  if (likelyMode(given) !== undefined) return ''
  const needs = MODES.map((mode) => {
    const wanted = SCAFFOLD_OPTIONS.filter(({ applies, required }) => applies === mode && required === true)
    return `${mode} needs ${wanted.map(({ flag }) => `--${flag}`).join(', ')}`
  })
  return ` Then ${needs.join('; ')}.`
}

function noEffect(option: ScaffoldOption, { value, spelled }: Given, why: string): Problem {
  return { ...about(option), code: 'no_effect', value, message: `${spelled} has no effect ${why}.` }
}

function valueProblems(option: ScaffoldOption, { value, spelled }: Given): readonly Problem[] {
  const allowed = allowedValues(option)
  if (allowed === undefined || typeof value === 'boolean') return []
  const texts = typeof value === 'string' ? [value] : value
  return texts.flatMap((text, index): readonly Problem[] => {
    if (!allowed.includes(text)) return [unknownValue(option, text, spelled, allowed)]
    if (texts.indexOf(text) === index || texts.lastIndexOf(text) !== index) return []
    return [
      { ...about(option), code: 'duplicate', value: text, message: `${spelled} has ${text} more than once.` },
    ]
  })
}

function unknownValue(
  option: ScaffoldOption,
  text: string,
  spelled: string,
  allowed: readonly string[],
): Problem {
  const suggestion = suggest(option, text, allowed)
  return {
    ...about(option),
    code: 'unknown_value',
    value: text,
    message: `${spelled} cannot be ${quoted(text)}.`,
    allowed,
    ...(suggestion === undefined ? {} : { suggestion }),
  }
}

function suggest(option: ScaffoldOption, text: string, allowed: readonly string[]): string | undefined {
  const whole = nearest(text, allowed)
  if (whole !== undefined) return whole
  const choices = choicesOf(option) ?? []
  // People know vendors and providers by their names, not by our words for them.
  const label = nearest(
    text,
    choices.map((choice) => choice.label),
  )
  const named = choices.find((choice) => choice.label === label)
  if (named !== undefined) return named.value
  const part = allowed.find((value) => value.length > 3 && text.toLowerCase().includes(value))
  return part ?? withSameWord(text, allowed)
}

/** The value that has a word in common with a text that the others do not all have. */
function withSameWord(text: string, allowed: readonly string[]): string | undefined {
  const wordsOf = (value: string): readonly string[] => value.toLowerCase().split(/[^a-z0-9]+/)
  const telling = wordsOf(text.slice(0, 64)).filter(
    (word) => word.length > 2 && !allowed.every((value) => wordsOf(value).includes(word)),
  )
  return allowed.find((value) => wordsOf(value).some((word) => telling.includes(word)))
}

function isEmptyList({ value }: Given): boolean {
  return Array.isArray(value) && value.length === 0
}

function about({ field, flag }: ScaffoldOption): Pick<Problem, 'field' | 'flag'> {
  return { field, flag: `--${flag}` }
}
