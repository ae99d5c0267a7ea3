import type { TestProject } from 'vitest/node'
import { setUpPipecat } from '../../scripts/pipecat-venv.mjs'

/** The library as these suites find it, or why they cannot run. */
export type Library = { readonly python: string; readonly version: string } | { readonly skipped: string }

declare module 'vitest' {
  export interface ProvidedContext {
    library: Library
  }
}

/** Installs the library before the first suite, once for this machine. */
export async function setup(project: TestProject): Promise<void> {
  const library = await setUpPipecat()
  const found = 'skipped' in library ? `skipped: ${library.skipped}` : `pipecat-ai ${library.version}`
  process.stdout.write(`suite pipecat: ${found}\n`)
  project.provide('library', library)
}
