import { ValueError } from '../options/option.ts'

/** The value of an option that has to say something. */
export function notEmpty(text: string): string {
  if (text !== '') return text
  throw new ValueError('must not be empty.')
}
