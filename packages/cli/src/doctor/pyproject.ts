import { join } from 'node:path'
import { readText } from './files.ts'
import type { Project } from './project.ts'
import { MIN_PYTHON } from './python.ts'

/** What checks want to know of `pyproject.toml`. */
export interface PyprojectFacts {
  /** The lowest version of Python that the project takes. */
  readonly python: string
  /** The lowest version of `pipecat-ai`, if the project depends on it. */
  readonly pipecat: string | undefined
  /** Whether it has a group of dependencies that run the evals. */
  readonly evals: boolean
  /** Our wheel, if the project installs it from a file. */
  readonly wheel: { readonly name: string; readonly version: string } | undefined
}

/** Reads what a project says of itself, or nothing if it has no such file. */
export async function readPyproject({
  server,
}: Pick<Project, 'server'>): Promise<PyprojectFacts | undefined> {
  const text = await readText(join(server, 'pyproject.toml'))
  if (text === undefined) return undefined
  const [, python] = /^requires-python\s*=\s*["'][^"']*>=\s*(\d+\.\d+)/m.exec(text) ?? []
  const [, pipecat] = /["']pipecat-ai(?:\[[^\]]*\])?\s*>=\s*(\d+(?:\.\d+)*)/.exec(text) ?? []
  const [, name, version] = /wheels\/(botcli-([\w.+!]+)-py3-none-any\.whl)/.exec(text) ?? []
  return {
    python: python ?? MIN_PYTHON,
    pipecat,
    evals: /^evals\s*=\s*\[/m.test(text),
    wheel: name === undefined || version === undefined ? undefined : { name, version },
  }
}
