import { posix } from 'node:path'
import { isSecretFile } from '@botcli/protocol/cloud'
import type { ContextFiles } from './context-files.ts'
import type { Problem } from './problem.ts'
import type { Stage, StagedStep } from './stages.ts'
import { substitute } from './variables.ts'

/** More than this are not looked for: what to do about them is told by the first ones. */
const MAX_PROBLEMS = 50

const REMOTE = /^(?:https?:\/\/|ftp:\/\/|git:\/\/|ssh:\/\/|git@)/i

/** What the stages take from the context and is not in it. */
export async function sourceProblems(
  stages: readonly Stage[],
  files: ContextFiles,
): Promise<readonly Problem[]> {
  const found: Problem[] = []
  for (const step of stages.flatMap((stage) => stage.steps)) {
    if (found.length >= MAX_PROBLEMS) break
    found.push(...(await stepProblems(step, files)))
  }
  return found
}

async function stepProblems(step: StagedStep, files: ContextFiles): Promise<readonly Problem[]> {
  const sources = sourcesOf(step)
  const problems: (Problem | undefined)[] = []
  for (const source of sources) {
    problems.push(await sourceProblem(step, source, files))
    if (problems.filter((problem) => problem !== undefined).length >= MAX_PROBLEMS) break
  }
  // A pattern beside something that is there may match nothing: so files are copied that need not be.
  const copiesSome = problems.includes(undefined)
  return problems.flatMap((problem, index) =>
    problem === undefined || (copiesSome && /[*?[]/.test(sources[index] ?? '')) ? [] : [problem],
  )
}

/** The paths of the context that a step reads, as far as they are known before the build. */
function sourcesOf(step: StagedStep): readonly string[] {
  const known = (word: string): readonly string[] => {
    const path = substitute(word, step.variables)
    return path === undefined || path === '' ? [] : [path]
  }
  if (step.keyword === 'RUN') {
    return step.flags.flatMap(({ name, value }) => {
      if (name !== 'mount' || /(?:^|,)from=/.test(value)) return []
      if (!/(?:^|,)type=bind(?:,|$)/.test(value) && /(?:^|,)type=/.test(value)) return []
      return known(/(?:^|,)(?:source|src)=([^,]*)/.exec(value)?.[1] ?? '')
    })
  }
  if (step.keyword !== 'COPY' && step.keyword !== 'ADD') return []
  if (step.flags.some(({ name }) => name === 'from')) return []
  return (step.json ?? step.words).slice(0, -1).flatMap((word) => (word.startsWith('<<') ? [] : known(word)))
}

async function sourceProblem(
  step: StagedStep,
  source: string,
  files: ContextFiles,
): Promise<Problem | undefined> {
  const problem = (message: string, hint: string): Problem => ({
    code: 'copy_source_missing',
    message,
    hint,
    step: step.text,
    line: step.line,
  })
  if (REMOTE.test(source)) {
    if (step.keyword === 'ADD') return undefined
    return problem(`${step.keyword} cannot fetch ${source}`, 'ADD can.')
  }
  if (posix.normalize(source.replace(/^\/+/, '')).startsWith('..'))
    return problem(
      `${source} lies outside of the context`,
      'Only files below the folder that was sent can be copied: build from a folder further up.',
    )
  if (await files.has(source)) return undefined
  const message = `${source} is not in the context`
  if (isSecretFile(source))
    return problem(message, 'Files like this hold secrets and are never sent. Use a secret set instead.')
  const near = await files.near(source)
  return problem(
    message,
    near === undefined
      ? 'Check its name, that it is in the folder that was sent, and that .dockerignore does not leave it out.'
      : `Did you mean ${near}? Or does .dockerignore leave it out?`,
  )
}
