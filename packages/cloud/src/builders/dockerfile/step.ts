import { DockerfileParser, type Instruction, type ModifiableInstruction } from 'dockerfile-ast'

/** One instruction of a container build file. */
export interface Step {
  /** In capitals. */
  readonly keyword: string
  /** As people and logs write it, on one line. */
  readonly text: string
  /** Of its first line, from 1. */
  readonly line: number
  readonly flags: readonly StepFlag[]
  /** What follows the flags, on one line, without the bodies of heredocs. */
  readonly rest: string
  /** The same in words, quotes kept. */
  readonly words: readonly string[]
  /** The words of the JSON form, where it is one. */
  readonly json: readonly string[] | undefined
  /** The names of its heredocs, and whether their ends were found. */
  readonly heredocs: readonly { readonly name: string; readonly closed: boolean }[]
}

/** An option of an instruction, such as `--from=build`. */
export interface StepFlag {
  readonly name: string
  readonly value: string
}

/** The longest text of a step that logs and failures show. */
const MAX_TEXT = 200
const WITH_FLAGS = new Set(['FROM', 'COPY', 'ADD', 'RUN', 'HEALTHCHECK'])

/** Reads a container build file into its instructions. It never fails: what is wrong with them is for the checks to say. */
export function readSteps(text: string): readonly Step[] {
  const file = DockerfileParser.parse(text)
  const continuation = file.getEscapeCharacter()
  return [...file.getInitialARGs(), ...file.getInstructions()]
    .filter((instruction, index, all) => all.indexOf(instruction) === index)
    .map((instruction) => readStep(instruction, continuation))
    .toSorted((a, b) => a.line - b.line)
}

function readStep(instruction: Instruction, continuation: string): Step {
  const keyword = instruction.getKeyword()
  const heredocs = 'getHeredocs' in instruction ? heredocsOf(instruction) : []
  const written = instruction.getInstruction()
  const flags = WITH_FLAGS.has(keyword) ? flagsOf(instruction as ModifiableInstruction) : []
  const rest = oneLine(instruction.getRawArgumentsContent() ?? '', continuation)
  const words = rest.split(/\s+/).filter((word) => word !== '')
  const shown = flags.map(({ name, value }) => (value === '' ? `--${name}` : `--${name}=${value}`))
  const text = [written, ...shown, ...words].join(' ')
  return {
    keyword,
    text: text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT - 1)}…` : text,
    line: instruction.getRange().start.line + 1,
    flags,
    rest,
    words,
    json: jsonWords(rest),
    heredocs,
  }
}

function flagsOf(instruction: ModifiableInstruction): readonly StepFlag[] {
  return instruction.getFlags().map((flag) => ({ name: flag.getName(), value: flag.getValue() ?? '' }))
}

function heredocsOf(instruction: Instruction): Step['heredocs'] {
  const { getHeredocs } = instruction as unknown as {
    getHeredocs(): { getName(): string; getDelimiterRange(): unknown }[]
  }
  return getHeredocs
    .call(instruction)
    .map((heredoc) => ({ name: heredoc.getName(), closed: heredoc.getDelimiterRange() !== null }))
}

/** Joins continued lines, leaves out the comments between them, and ends where a heredoc's body begins. */
function oneLine(raw: string, continuation: string): string {
  let joined = ''
  for (const line of raw.split(/\r?\n/)) {
    if (joined !== '' && /^\s*(?:#|$)/.test(line)) continue
    const text = line.trimEnd()
    if (!text.endsWith(continuation)) return `${joined}${text}`.trim()
    joined += `${text.slice(0, -1)} `
  }
  return joined.trim()
}

function jsonWords(text: string): readonly string[] | undefined {
  if (!text.startsWith('[')) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) && value.every((word) => typeof word === 'string') ? value : undefined
  } catch {
    return undefined
  }
}
