import { servicesOf } from '../services/index.ts'
import type { ScaffoldOption } from './option.ts'

/** A value that can be chosen, and what people are shown for it. */
export interface Choice {
  readonly value: string
  readonly label: string
}

/** What an option can be; nothing for one that takes any text, or yes and no. */
export function choicesOf(option: ScaffoldOption): readonly Choice[] | undefined {
  if (option.services !== undefined) {
    return servicesOf(option.services).map(({ id, label }) => ({ value: id, label }))
  }
  if (option.values === undefined) return undefined
  return Object.entries(option.values).map(([value, label]) => ({ value, label }))
}

/** The words that an option can be, in their order. */
export function allowedValues(option: ScaffoldOption): readonly string[] | undefined {
  return choicesOf(option)?.map(({ value }) => value)
}
