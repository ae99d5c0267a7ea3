import { describe, inject } from 'vitest'

/** Describes what needs the library. Without it the tests are skipped, and their name says why. */
export function withPipecat(name: string, tests: (python: string) => void): void {
  const library = inject('library')
  if ('skipped' in library) describe.skip(`${name} (${library.skipped})`, () => tests(''))
  else describe(name, () => tests(library.python))
}
