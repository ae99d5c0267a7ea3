import { nearest } from '../nearest.ts'
import { type Problem, syntaxProblem } from './problem.ts'
import type { Step } from './step.ts'
import { pairsOf } from './variables.ts'

/** The options that each instruction takes. */
const FLAGS: Readonly<Record<string, readonly string[]>> = {
  FROM: ['platform'],
  COPY: ['from', 'chown', 'chmod', 'link', 'parents', 'exclude'],
  ADD: ['keep-git-dir', 'checksum', 'chown', 'chmod', 'link', 'exclude', 'unpack'],
  RUN: ['mount', 'network', 'security', 'device'],
  HEALTHCHECK: ['interval', 'timeout', 'start-period', 'start-interval', 'retries'],
}
const INSTRUCTIONS = [
  'ADD',
  'ARG',
  'CMD',
  'COPY',
  'ENTRYPOINT',
  'ENV',
  'EXPOSE',
  'FROM',
  'HEALTHCHECK',
  'LABEL',
  'MAINTAINER',
  'ONBUILD',
  'RUN',
  'SHELL',
  'STOPSIGNAL',
  'USER',
  'VOLUME',
  'WORKDIR',
]
const PORT = /^\d{1,5}(?:-\d{1,5})?(?:\/(?:tcp|udp|sctp))?$/i
const MAX_PORT = 65_535

/** What is wrong with the text of single instructions, and with their order. */
export function syntaxProblems(steps: readonly Step[]): readonly Problem[] {
  const first = steps.findIndex(({ keyword }) => keyword === 'FROM')
  const known = steps.flatMap((step, index) => {
    const problem = instructionProblem(step)
    if (problem !== undefined) return [problem]
    const early = first === -1 || index < first
    if (!early || step.keyword === 'ARG' || step.keyword === 'FROM') return []
    return [
      syntaxProblem(
        step,
        `${step.keyword} stands before the first FROM`,
        'Only ARG may. Begin with FROM and a base image.',
      ),
    ]
  })
  if (first !== -1 || known.length > 0) return known
  const where = steps[0] ?? { text: '', line: 1 }
  const message = steps.length === 0 ? 'the file has no instructions' : 'there is no FROM'
  return [
    { ...syntaxProblem(where, message, 'Begin with FROM and a base image.'), step: steps[0]?.text ?? null },
  ]
}

function instructionProblem(step: Step): Problem | undefined {
  const { keyword, words } = step
  if (!INSTRUCTIONS.includes(keyword)) {
    const meant = nearest(keyword, INSTRUCTIONS)
    const hint =
      meant === undefined ? `The instructions are: ${INSTRUCTIONS.join(', ')}.` : `Did you mean ${meant}?`
    return syntaxProblem(step, `unknown instruction: ${keyword}`, hint)
  }
  if (words.length === 0)
    return syntaxProblem(step, `${keyword} needs an argument`, 'Say what it is to do, or remove the line.')
  const open = step.heredocs.find(({ closed }) => !closed)
  if (open !== undefined)
    return syntaxProblem(
      step,
      `the text after <<${open.name} has no end`,
      `End it by a line with only ${open.name}.`,
    )
  return flagProblem(step) ?? jsonProblem(step) ?? argumentProblem(step)
}

function flagProblem(step: Step): Problem | undefined {
  const allowed = FLAGS[step.keyword] ?? []
  const wrong = step.flags.find(({ name }) => !allowed.includes(name))
  if (wrong === undefined) return undefined
  const meant = nearest(wrong.name, allowed)
  const list = allowed.map((name) => `--${name}`).join(', ')
  const hint = meant === undefined ? `${step.keyword} takes: ${list}.` : `Did you mean --${meant}?`
  return syntaxProblem(step, `${step.keyword} has no option --${wrong.name}`, hint)
}

/**
 * A broken JSON form is run as a shell command by most engines, without a word. In a shell `[` is also a test, so only what is surely
 * meant as an array counts.
 */
function jsonProblem(step: Step): Problem | undefined {
  const text = step.keyword === 'HEALTHCHECK' ? step.rest.replace(/^CMD\s+/i, '') : step.rest
  if (!/^\[\s*["']/.test(text) || step.json !== undefined) return undefined
  if (!['CMD', 'ENTRYPOINT', 'RUN', 'COPY', 'ADD', 'SHELL', 'VOLUME', 'HEALTHCHECK'].includes(step.keyword))
    return undefined
  if (parsesAsWords(text)) return undefined
  const closed = text.endsWith(']')
  // A test that is followed by what to do then.
  if (text.includes(']') && !closed) return undefined
  if (
    closed &&
    /^(?:RUN|CMD|ENTRYPOINT|HEALTHCHECK)$/.test(step.keyword) &&
    /^\[\s.*\s\]$/.test(text) &&
    !text.includes(',')
  )
    return undefined
  const why = !closed
    ? 'it is not closed'
    : text.includes("'")
      ? 'its words must stand in double quotes'
      : /,\s*\]$/.test(text)
        ? 'it ends with a comma'
        : 'a quote or a comma is missing'
  const hint = `Write it as ${step.keyword} ["first", "second"].`
  return syntaxProblem(step, `the JSON array of ${step.keyword} cannot be read: ${why}`, hint)
}

function parsesAsWords(text: string): boolean {
  try {
    return Array.isArray(JSON.parse(text))
  } catch {
    return false
  }
}

function argumentProblem(step: Step): Problem | undefined {
  const { keyword, words } = step
  switch (keyword) {
    case 'FROM':
      return fromProblem(step)
    case 'COPY':
    case 'ADD':
      return (step.json ?? words).length > 1
        ? undefined
        : syntaxProblem(
            step,
            `${keyword} needs a source and a destination`,
            `Write it as ${keyword} source destination.`,
          )
    case 'EXPOSE':
      return exposeProblem(step)
    case 'ENV':
    case 'LABEL':
      return pairProblem(step)
    case 'SHELL':
      return step.json !== undefined
        ? undefined
        : syntaxProblem(step, 'SHELL takes only a JSON array', 'Write it as SHELL ["/bin/bash", "-c"].')
    case 'HEALTHCHECK':
      return /^(?:NONE|CMD)$/i.test(words[0] ?? '')
        ? undefined
        : syntaxProblem(
            step,
            `HEALTHCHECK does not know ${words[0]}`,
            'It is followed by CMD and a command, or by NONE.',
          )
    case 'ONBUILD':
      return onbuildProblem(step)
    default:
      return undefined
  }
}

function fromProblem(step: Step): Problem | undefined {
  const { words } = step
  const named = words.length === 3 && words[1]?.toUpperCase() === 'AS'
  if (words.length !== 1 && !named)
    return syntaxProblem(
      step,
      'FROM takes an image, or an image AS a name',
      'Write it as FROM image or FROM image AS name.',
    )
  if (named && !/^[a-z][a-z0-9_.-]*$/i.test(words[2] ?? ''))
    return syntaxProblem(
      step,
      `${words[2]} cannot be the name of a stage`,
      'A name begins with a letter; letters, digits, and . _ - follow.',
    )
  return undefined
}

function exposeProblem(step: Step): Problem | undefined {
  const wrong = step.words.find((word) => {
    if (word.includes('$')) return false
    return (
      !PORT.test(word) ||
      (word.match(/\d+/g) ?? []).some((port) => Number(port) < 1 || Number(port) > MAX_PORT)
    )
  })
  if (wrong === undefined) return undefined
  return syntaxProblem(
    step,
    `EXPOSE ${wrong} is not a port`,
    `A port is a number from 1 to ${MAX_PORT}, such as 7860 or 7860/udp.`,
  )
}

function pairProblem(step: Step): Problem | undefined {
  const pairs = pairsOf(step.rest)
  if (!('wrong' in pairs)) return undefined
  // The old form takes one name and the rest of the line.
  if (step.words.length > 1 && !(step.words[0] ?? '').includes('=')) return undefined
  return syntaxProblem(
    step,
    `${step.keyword} has no = in ${pairs.wrong}`,
    `Write it as ${step.keyword} NAME=value.`,
  )
}

function onbuildProblem(step: Step): Problem | undefined {
  const trigger = (step.words[0] ?? '').toUpperCase()
  if (['FROM', 'ONBUILD', 'MAINTAINER'].includes(trigger))
    return syntaxProblem(step, `ONBUILD cannot do ${trigger}`, 'Any other instruction may follow it.')
  if (INSTRUCTIONS.includes(trigger)) return undefined
  const meant = nearest(trigger, INSTRUCTIONS)
  const hint = meant === undefined ? 'It is followed by another instruction.' : `Did you mean ${meant}?`
  return syntaxProblem(step, `unknown instruction: ${trigger}`, hint)
}
