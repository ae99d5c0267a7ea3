import { readFile, readlink, realpath, stat } from 'node:fs/promises'
import { basename, join, sep } from 'node:path'
import type { BuildInput, BuildOutput, BuildResult } from '../builder.ts'
import { ContextFiles } from './context-files.ts'
import { failureOf, type Problem } from './problem.ts'
import { sourceProblems } from './sources.ts'
import { neededStages, readStages, type Stage, stageProblems } from './stages.ts'
import { readSteps, type Step } from './step.ts'
import { syntaxProblems } from './syntax.ts'

/** A container build file in which nothing wrong was found. */
export interface CheckedDockerfile {
  readonly path: string
  readonly text: string
  readonly steps: readonly Step[]
  readonly stages: readonly Stage[]
  /** The stages that the last one needs, itself included. */
  readonly needed: readonly Stage[]
}

const MAX_BYTES = 128 * 1024
/** What follows the variables through a file costs as much as the square of these. */
const MAX_STEPS = 1000
const MAX_STAGES = 100
const MAX_VARIABLES = 1000
/** The most problems that a log lists. */
const MAX_TOLD = 20

/** Reads and checks the container build file of a context, before any engine sees it. */
export async function checkDockerfile(
  input: Pick<BuildInput, 'context' | 'dockerfilePath'>,
): Promise<CheckedDockerfile | { readonly problems: readonly Problem[]; readonly text: string }> {
  const files = new ContextFiles(input.context)
  const read = await readDockerfile(input, files)
  if ('code' in read) return { problems: [read], text: '' }
  const { text } = read
  const steps = readSteps(text)
  const excess = excessOf(steps)
  if (excess !== undefined) return { problems: [excess], text }
  const wrong = syntaxProblems(steps)
  if (wrong.length > 0) return { problems: wrong, text }
  const stages = readStages(steps)
  const needed = neededStages(stages)
  const problems = [...stageProblems(stages), ...(await sourceProblems(needed, files))]
  if (problems.length > 0)
    return { problems: problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)), text }
  return { path: input.dockerfilePath, text, steps, stages, needed }
}

/** Checks, and tells in the log what was found. A result says that the build is over. */
export async function checkAloud(
  input: Pick<BuildInput, 'context' | 'dockerfilePath'>,
  output: BuildOutput,
): Promise<CheckedDockerfile | { readonly result: BuildResult }> {
  const checked = await checkDockerfile(input)
  if (!('problems' in checked)) return checked
  const [first] = checked.problems as readonly [Problem, ...Problem[]]
  const name = basename(input.dockerfilePath)
  for (const problem of checked.problems.slice(0, MAX_TOLD)) {
    for (const line of excerpt(checked.text, problem.line)) output.say(line)
    output.say(`${tellingLine(name, problem)}. ${problem.hint}`)
  }
  if (checked.problems.length > MAX_TOLD) output.say(`and ${checked.problems.length - MAX_TOLD} more`)
  return { result: { ok: false, message: tellingLine(name, first), failure: failureOf(first) } }
}

/** Nobody writes that many by hand. */
function excessOf(steps: readonly Step[]): Problem | undefined {
  const variables = steps.filter(({ keyword }) => keyword === 'ENV' || keyword === 'ARG')
  const counts = [
    { what: 'instructions', count: steps.length, most: MAX_STEPS },
    { what: 'stages', count: steps.filter(({ keyword }) => keyword === 'FROM').length, most: MAX_STAGES },
    { what: 'variables', count: variables.flatMap(({ words }) => words).length, most: MAX_VARIABLES },
  ]
  const excess = counts.find(({ count, most }) => count > most)
  if (excess === undefined) return undefined
  return {
    ...{ code: 'dockerfile_syntax', step: null, line: null },
    message: `the container build file has more than ${excess.most} ${excess.what}`,
    hint: 'Put what is generated into a script, and run that.',
  }
}

function tellingLine(name: string, { line, message }: Problem): string {
  return line === null ? message : `${name}:${line}: ${message}`
}

/** The line and its neighbours. */
function excerpt(text: string, line: number | null): readonly string[] {
  if (line === null) return []
  const lines = text.split(/\r?\n/)
  return lines
    .slice(Math.max(0, line - 2), line + 1)
    .map((content, index) => ({ content, number: Math.max(1, line - 1) + index }))
    .filter(({ content, number }) => number === line || content.trim() !== '')
    .map(
      ({ content, number }) =>
        `${String(number).padStart(4)} | ${number === line ? '>>>' : '   '} ${content.slice(0, 200)}`,
    )
}

/** Names that some engines take for more than a name, so that what they build is not what was checked. */
function unfitName(dockerfilePath: string): Problem | undefined {
  const common = { code: 'dockerfile_syntax', step: null, line: null } as const
  // buildah and podman hand such a file to the C preprocessor, which includes any file of the machine.
  if (/\.in\/*$/i.test(dockerfilePath))
    return {
      ...common,
      message: `${dockerfilePath} ends with .in, and so some engines would run it through the C preprocessor`,
      hint: 'Rename it, such as to Dockerfile, and write in it what it would include.',
    }
  // podman reads it as a JSON list of other files.
  if (/^\s*\[/.test(dockerfilePath))
    return {
      ...common,
      message: `${dockerfilePath} begins with [, and so some engines would read it as a list of files`,
      hint: 'Rename it, such as to Dockerfile.',
    }
  return undefined
}

async function readDockerfile(
  { context, dockerfilePath }: Pick<BuildInput, 'context' | 'dockerfilePath'>,
  files: ContextFiles,
): Promise<{ readonly text: string } | Problem> {
  const path = join(context, dockerfilePath)
  const unfit = unfitName(dockerfilePath)
  if (unfit !== undefined) return unfit
  const real = await realpath(path).catch(() => undefined)
  const found = real === undefined ? undefined : await stat(real)
  const missing = (message: string, hint: string): Problem => ({
    code: 'dockerfile_missing',
    message,
    hint,
    step: null,
    line: null,
  })
  const target = await readlink(path).catch(() => undefined)
  if (target !== undefined && (found === undefined || !(await isInside(path, context))))
    return missing(
      `${dockerfilePath} is a link to ${target}, which is not in the context`,
      `Send that file, too (check that .dockerignore does not leave it out), or put a copy in the place of the link.`,
    )
  if (found === undefined) {
    const others = await files.find((name) => /^(?:.*\.)?(?:Dockerfile|Containerfile)(?:\..*)?$/i.test(name))
    const hint =
      others.length === 0
        ? 'Write one, or say with dockerfilePath where it is. Check that .dockerignore does not leave it out.'
        : `There ${others.length === 1 ? 'is' : 'are'} ${others.slice(0, 5).join(', ')}: name the right one as dockerfilePath.`
    return missing(`there is no ${dockerfilePath} in the context`, hint)
  }
  if (!found.isFile() || !(await isInside(path, context)))
    return missing(`${dockerfilePath} is not a file of the context`, 'Name a file as dockerfilePath.')
  if (found.size > MAX_BYTES)
    return {
      ...missing(`${dockerfilePath} is larger than 128 KiB`, 'Is it the right file?'),
      code: 'dockerfile_syntax',
    }
  return { text: (await readFile(path)).toString('utf8').replace(/^\uFEFF/, '') }
}

/** Whether what a path leads to is in a folder. */
async function isInside(path: string, folder: string): Promise<boolean> {
  return (await realpath(path)).startsWith(`${await realpath(folder)}${sep}`)
}
