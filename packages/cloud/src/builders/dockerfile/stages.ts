import { type Problem, syntaxProblem } from './problem.ts'
import type { Step } from './step.ts'
import { pairsOf, substitute, type Variables, wordsOf } from './variables.ts'

/** One stage of a container build file: from a FROM to the next. */
export interface Stage {
  readonly index: number
  /** In small letters. */
  readonly name: string | undefined
  readonly from: Step
  /** The image or the earlier stage that it begins with, if that is known before the build. */
  readonly base: string | undefined
  readonly steps: readonly StagedStep[]
}

/** A step with the variables that hold in it. */
export interface StagedStep extends Step {
  readonly variables: Variables
}

/** What an engine declares by itself. */
const PLATFORM_ARGS = [
  'TARGETPLATFORM',
  'TARGETOS',
  'TARGETARCH',
  'TARGETVARIANT',
  'BUILDPLATFORM',
  'BUILDOS',
  'BUILDARCH',
  'BUILDVARIANT',
]

/** Cuts the steps into stages, and follows ARG and ENV through them. */
export function readStages(steps: readonly Step[]): readonly Stage[] {
  const first = steps.findIndex(({ keyword }) => keyword === 'FROM')
  if (first === -1) return []
  const globals = new Map<string, string | undefined>()
  for (const step of steps.slice(0, first)) declare(step, globals, new Map())
  const stages: Stage[] = []
  for (let at = first; at < steps.length; ) {
    const end = steps.findIndex(({ keyword }, index) => index > at && keyword === 'FROM')
    const own = steps.slice(at, end === -1 ? steps.length : end)
    stages.push(readStage(own, stages, globals))
    at += own.length
  }
  return stages
}

function readStage(steps: readonly Step[], before: readonly Stage[], globals: Variables): Stage {
  const [from, ...rest] = steps as [Step, ...Step[]]
  const outside = new Map<string, string | undefined>(PLATFORM_ARGS.map((name) => [name, undefined]))
  for (const [name, value] of globals) outside.set(name, value)
  const base = substitute(from.words[0] ?? '', outside)
  const parent = before.find(({ name }) => name !== undefined && name === base?.toLowerCase())
  const variables = new Map(parent?.steps.at(-1)?.variables)
  // What an image brings along is not known here; PATH it surely has.
  if (base !== 'scratch' && !variables.has('PATH')) variables.set('PATH', undefined)
  let held: Variables = new Map(variables)
  const staged = rest.map((step): StagedStep => {
    if (step.keyword === 'ARG' || step.keyword === 'ENV') {
      declare(step, variables, outside)
      held = new Map(variables)
    }
    return { ...step, variables: held }
  })
  const name = from.words[1]?.toUpperCase() === 'AS' ? from.words[2]?.toLowerCase() : undefined
  return { index: before.length, name, from, base, steps: staged }
}

function declare(step: Step, variables: Map<string, string | undefined>, outside: Variables): void {
  if (step.keyword === 'ARG') {
    for (const word of wordsOf(step.rest)) {
      const [name = '', ...value] = word.split('=')
      const known = value.length > 0 ? substitute(value.join('='), variables) : outside.get(name)
      variables.set(name, known)
    }
  }
  if (step.keyword !== 'ENV') return
  const pairs = pairsOf(step.rest)
  const before: Variables = new Map(variables)
  if (!('wrong' in pairs)) for (const [name, value] of pairs) variables.set(name, substitute(value, before))
  // The old form: ENV NAME value with spaces.
  else if (step.words[0] !== undefined && !step.words[0].includes('='))
    variables.set(step.words[0], substitute(step.words.slice(1).join(' '), before))
}

/** The stages that the last one needs, itself included. */
export function neededStages(stages: readonly Stage[]): readonly Stage[] {
  const needed = new Set<Stage>()
  const visit = (stage: Stage | undefined): void => {
    if (stage === undefined || needed.has(stage)) return
    needed.add(stage)
    visit(stageNamed(stages.slice(0, stage.index), stage.base ?? ''))
    for (const { from } of referencesOf(stage)) visit(stageNamed(stages.slice(0, stage.index), from))
  }
  visit(stages.at(-1))
  return stages.filter((stage) => needed.has(stage))
}

/** Finds a stage by its name or number. */
export function stageNamed(stages: readonly Stage[], name: string): Stage | undefined {
  if (/^\d+$/.test(name)) return stages[Number(name)]
  return stages.findLast((stage) => stage.name === name.toLowerCase())
}

/** Every place where a stage takes files from another stage or image. */
export function referencesOf(stage: Stage): readonly { readonly step: StagedStep; readonly from: string }[] {
  return stage.steps.flatMap((step) =>
    step.flags.flatMap(({ name, value }) => {
      const written =
        name === 'from' ? value : name === 'mount' ? /(?:^|,)from=([^,]*)/.exec(value)?.[1] : undefined
      const from = written === undefined ? undefined : substitute(written, step.variables)
      return from === undefined || from === '' ? [] : [{ step, from }]
    }),
  )
}

/** Names that people give to stages, and nobody to an image without a tag. */
const TYPICAL =
  /^(?:build|builder|base|deps|dependencies|runner|runtime|prod|production|dev|development|test|tests|final|release|app|server|client|frontend|backend|compile|compiler|install|installer|assets|bundle|stage\d*)$/

/** What is wrong with the names of stages and with who asks for them. */
export function stageProblems(stages: readonly Stage[]): readonly Problem[] {
  return stages.flatMap((stage) => {
    const before = stages.slice(0, stage.index)
    const twice = before.find(({ name }) => name !== undefined && name === stage.name)
    return [
      ...(twice === undefined
        ? []
        : [
            syntaxProblem(
              stage.from,
              `there are two stages named ${stage.name}: the other is on line ${twice.from.line}`,
              'Give each stage a name of its own.',
            ),
          ]),
      ...unknown(stage.from, stage.base ?? '', stages, stage, 'FROM'),
      ...referencesOf(stage).flatMap(({ step, from }) => unknown(step, from, stages, stage, '--from')),
    ]
  })
}

function unknown(
  step: Step,
  name: string,
  stages: readonly Stage[],
  stage: Stage,
  place: 'FROM' | '--from',
): readonly Problem[] {
  const before = stages.slice(0, stage.index)
  if (stageNamed(before, name) !== undefined || name === '') return []
  if (place === '--from' && /^\d+$/.test(name)) {
    const hint = `Stages are counted from 0; before this line there ${before.length === 1 ? 'is 1' : `are ${before.length}`}.`
    return [syntaxProblem(step, `there is no stage ${name} before this one`, hint)]
  }
  const wanted = name.toLowerCase()
  const self = stage.name === wanted && place === '--from'
  const later = stages.slice(stage.index + 1).some((other) => other.name === wanted)
  const names = before.flatMap((other) => other.name ?? [])
  // Anything with a tag, a digest or a registry is an image; so may be a word that no stage is like.
  const near = /[/:@.]/.test(name) ? undefined : closest(wanted, names)
  if (!self && !later && near === undefined && !TYPICAL.test(wanted)) return []
  const written = place === 'FROM' ? `FROM ${name}` : `--from=${name}`
  if (self)
    return [syntaxProblem(step, `${written} asks a stage for its own files`, 'Name an earlier stage.')]
  if (later)
    return [syntaxProblem(step, `the stage ${name} comes only after this line`, 'Move that stage up.')]
  const list =
    names.length === 0
      ? 'No stage has a name: write FROM … AS name.'
      : `The stages before this line are: ${names.join(', ')}.`
  const hint = near === undefined ? `${list} An image is written with its tag.` : `Did you mean ${near}?`
  return [syntaxProblem(step, `${written} names no stage`, hint)]
}

/** Only a slip of the pen counts: `node` is an image even if a stage is called `node1`. */
function closest(wanted: string, names: readonly string[]): string | undefined {
  return names.find(
    (name) => name.length > 4 && Math.abs(name.length - wanted.length) <= 1 && slip(name, wanted),
  )
}

function slip(a: string, b: string): boolean {
  const [long, short] = a.length >= b.length ? [a, b] : [b, a]
  let at = 0
  while (at < short.length && long[at] === short[at]) at += 1
  if (long.length > short.length) return long.slice(at + 1) === short.slice(at)
  const swapped = long.slice(0, at) + (long[at + 1] ?? '') + (long[at] ?? '') + long.slice(at + 2)
  return swapped === short || long.slice(at + 1) === short.slice(at + 1)
}
