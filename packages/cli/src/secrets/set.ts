import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { EXIT } from '../exit-codes.ts'
import { optional } from '../options/option.ts'
import { action, JSON_OPTION } from '../remote/action.ts'
import type { CloudClient } from '../remote/cloud-client.ts'
import type { Desk } from '../remote/desk.ts'
import { canAsk, obtainHidden, readInput } from '../remote/input.ts'
import { notEmpty } from '../remote/values.ts'
import { UsageError } from '../usage-error.ts'
import { parseDotenv, problemOf, type Variable } from './dotenv.ts'
import { readSetName } from './set-name.ts'

const MOST_KEYS = 200

/** Where a set is made. */
export const REGION_OPTION = optional({
  name: 'region',
  argument: 'REGION',
  default: "the organization's",
  help: 'Where a new set is kept. A set never changes its region.',
  parse: notEmpty,
})

/** `botcli secrets set NAME …`. */
export const setAction = action({
  name: 'secrets set',
  summary: 'Put variables into a set, all of them or none',
  usage: 'NAME [KEY | KEY=VALUE]…',
  arguments: { min: 1, max: 1 + MOST_KEYS },
  about: `The set is made if it is not there; variables that it has and that are not named stay as they are. KEY alone asks
for its value, which does not show. Others on this machine can see a command line, and your shell keeps it:
--file and KEY alone are safer than KEY=VALUE.`,
  options: {
    file: optional({
      name: 'file',
      argument: 'FILE',
      help: 'Put in what this file says, such as .env; - reads the same from stdin.',
      parse: notEmpty,
    }),
    region: REGION_OPTION,
    json: JSON_OPTION,
  },
  async work({ args: [name, ...typed], values: { file, region } }, desk) {
    const set = readSetName(name)
    const words = typed.filter((word) => word !== '-')
    const wanted = file ?? (typed.includes('-') ? '-' : undefined)
    if (wanted === undefined && words.length === 0) {
      throw new UsageError(['Say which variables: KEY, KEY=VALUE, or --file FILE (- for stdin).'])
    }
    const fromFile = wanted === undefined ? [] : await readVariables(wanted, desk)
    const fromWords = await readWords(words, desk)
    // What is typed wins over the file.
    const all = new Map([...fromFile, ...fromWords].map((one) => [one.name, one.value]))
    if (all.size === 0) throw new UsageError([`${wanted === '-' ? 'stdin' : wanted} has no variables.`])
    if (all.size > MOST_KEYS)
      throw new UsageError([`At most ${MOST_KEYS} variables can be put in at once, not ${all.size}.`])
    const client = await desk.connect()
    const secrets = [...all].map(([secretKey, secretValue]) => ({ secretKey, secretValue }))
    const done = await client.putSecrets(set, { secrets, ...(region !== undefined && { region }) })
    const names = [...all.keys()]
    desk.say(
      `${set} (${done.region}) has ${names.length === 1 ? 'a new value' : 'new values'} for ${names.join(', ')}.`,
    )
    desk.print({ set, region: done.region, variables: names })
    if (!desk.json) await tellMore(set, all, client, desk)
    return EXIT.ok
  },
})

/** What is easily overlooked: values that are empty, and agents that begin anew with the others. */
async function tellMore(
  set: string,
  variables: ReadonlyMap<string, string>,
  client: CloudClient,
  desk: Desk,
): Promise<void> {
  const empty = [...variables].filter(([, value]) => value === '').map(([name]) => name)
  if (empty.length > 0) {
    desk.note(
      `${empty.join(', ')} ${empty.length === 1 ? 'is' : 'are'} empty: give a value before a bot needs it.`,
    )
  }
  // It is done, whatever this says.
  const { services } = await client.agents.list().catch(() => ({ services: [] }))
  const users = services.filter(({ deployment }) => deployment?.secretSet === set).map(({ name }) => name)
  if (users.length === 0) return
  desk.note(
    `Agents that use it are deployed anew with what has changed: ${users.join(', ')}. See how it goes: botcli agent get ${users[0]}`,
  )
}

async function readVariables(file: string, desk: Desk): Promise<readonly Variable[]> {
  const shown = file === '-' ? 'stdin' : file
  const text =
    file === '-' ? await readInput(desk.io, desk.signal) : await readText(resolve(desk.io.cwd(), file), file)
  const { variables, problems } = parseDotenv(text)
  if (problems.length > 0) throw new UsageError(problems.map((problem) => `${shown}, ${problem}`))
  return variables
}

async function readText(path: string, shown: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new UsageError([`--file ${shown} cannot be read (${code}).`])
  }
}

/** What was typed as arguments, and what is asked for by them. */
async function readWords(words: readonly string[], desk: Desk): Promise<readonly Variable[]> {
  const variables = words.map((word) => {
    const at = word.indexOf('=')
    return at < 0 ? { name: word, value: undefined } : { name: word.slice(0, at), value: word.slice(at + 1) }
  })
  const problems = variables.flatMap(({ name, value = '' }, index) => {
    const problem = problemOf({ name, value })
    return problem === undefined ? [] : [`Argument ${index + 2} (KEY or KEY=VALUE): ${problem}`]
  })
  if (problems.length > 0) throw new UsageError(problems)
  const asked = variables.some(({ value }) => value === undefined)
  if (asked && !canAsk(desk.io)) {
    const names = variables.filter(({ value }) => value === undefined).map(({ name }) => name)
    throw new UsageError([`There is nobody to ask for ${names.join(', ')}: use --file FILE, or - for stdin.`])
  }
  const found: Variable[] = []
  for (const { name, value } of variables) {
    found.push({ name, value: value ?? (await obtainHidden(`Value of ${name}`, desk)) })
  }
  return found
}
