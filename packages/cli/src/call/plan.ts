import { constants } from 'node:fs'
import { access, readFile, stat } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { decodeWav, mixDown, WavError } from '@botcli/audio'
import { type AudioCoding, type CallerStep, type Misbehaviours, PHONES } from '@botcli/media/phone'
import type { OptionValues } from '../options/option.ts'
import type { Parsed } from '../options/parse.ts'
import { UsageError } from '../usage-error.ts'
import type { CALL_OPTIONS } from './options.ts'
import { type CallPlace, readPlace } from './target.ts'

type CallValues = OptionValues<typeof CALL_OPTIONS>

/** A caller lets the bot greet first, but not for ever. */
const GREETING_MS = 3000
/** A bot that answers later than this is talked to as if it had. */
const ANSWER_MS = 8000
const DEFAULT_SPEECH_MS = 2000
/** Who interrupts lets the other one begin. */
const BARGE_IN_MS = 1000

/** Everything that a call needs, checked. */
export interface CallPlan {
  readonly place: CallPlace
  readonly coding: AudioCoding
  readonly script: readonly CallerStep[]
  readonly custom: Readonly<Record<string, string>>
  readonly misbehaviours: Misbehaviours
  /** Files that are written when the call is over, by their full names. */
  readonly save: string | undefined
  readonly saveBoth: string | undefined
}

/** Makes a plan of a command line, or tells everything that is wrong with it. */
export async function planCall(parsed: Parsed<typeof CALL_OPTIONS>, cwd: string): Promise<CallPlan> {
  const { values, positionals } = parsed
  const problems = [...parsed.problems]
  const coding = chooseCoding(values, problems)
  const place = readPlace(positionals, values, problems)
  checkParameters(values, problems)
  const save = await writable(values.save, cwd, 'save', problems)
  const saveBoth = await writable(values.saveBoth, cwd, 'save-both', problems)
  const steps = await callerSteps(parsed, cwd, problems)
  if (problems.length > 0 || place === undefined || coding === undefined) throw new UsageError(problems)
  return {
    place,
    coding,
    script: inTurns(steps, values.interrupt),
    custom: Object.fromEntries(values.params ?? []),
    misbehaviours: Object.fromEntries((values.misbehaviours ?? []).map(({ name, amount }) => [name, amount])),
    save,
    saveBoth,
  }
}

function chooseCoding(values: CallValues, problems: string[]): AudioCoding | undefined {
  const { codings } = PHONES[values.carrier]
  const fits = codings.filter(
    ({ codec, rate }) =>
      codec === (values.codec ?? codec) &&
      rate === (values.rate ?? (values.codec === undefined ? codings[0]?.rate : rate)),
  )
  const found = fits[0] ?? codings.find(({ rate }) => values.codec === undefined && rate === values.rate)
  if (found === undefined) {
    const able = codings.map(({ codec, rate }) => `${codec} at ${rate}`).join(', ')
    problems.push(`${values.carrier} has sound as ${able}; choose --codec and --rate among them.`)
  }
  return found
}

/** Carrier C has one line for all parameters, and no way to write these signs in it. */
function checkParameters({ carrier, params }: CallValues, problems: string[]): void {
  if (carrier !== 'telephony_c') return
  for (const [name, value] of params ?? []) {
    if (/[;,={}]/.test(name + value)) {
      problems.push(`--param ${name}: ${carrier} cannot carry any of ; , = { } in a parameter.`)
    }
  }
}

async function writable(
  file: string | undefined,
  cwd: string,
  option: string,
  problems: string[],
): Promise<string | undefined> {
  if (file === undefined) return undefined
  const path = resolve(cwd, file)
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
  if (isFolder) problems.push(`--${option}: ${path} is a folder; name a file.`)
  try {
    await access(dirname(path), constants.W_OK)
  } catch {
    problems.push(`--${option}: ${dirname(path)} is no folder that can be written to.`)
  }
  return path
}

/** What the caller does, in the order of the command line. */
async function callerSteps(
  { values, sequence }: Parsed<typeof CALL_OPTIONS>,
  cwd: string,
  problems: string[],
): Promise<readonly CallerStep[]> {
  const say = [...(values.say ?? [])]
  const speech = [...(values.speech ?? [])]
  const keys = [...(values.keys ?? [])]
  const steps: CallerStep[] = []
  for (const key of sequence) {
    if (key === 'say') steps.push(...(await readSound(say.shift(), cwd, problems)))
    if (key === 'speech') steps.push({ do: 'speech', ms: speech.shift() ?? DEFAULT_SPEECH_MS })
    if (key === 'keys') steps.push({ do: 'keys', keys: keys.shift() ?? '' })
  }
  return steps.length > 0 ? steps : [{ do: 'speech', ms: DEFAULT_SPEECH_MS }]
}

/** Whoever writes words there wants them to be spoken. */
const HINT = ' --say takes a WAV file; --speech 2s makes something up that sounds like speech.'

async function readSound(
  file: string | undefined,
  cwd: string,
  problems: string[],
): Promise<readonly CallerStep[]> {
  if (file === undefined) return []
  try {
    const wav = decodeWav(await readFile(resolve(cwd, file)))
    if (wav.rate >= 8000 && wav.rate <= 48_000 && wav.rate % 50 === 0) {
      return [{ do: 'say', samples: mixDown(wav), rate: wav.rate, name: basename(file) }]
    }
    problems.push(`--say ${file}: Its rate is ${wav.rate} Hz; convert it to 8000, 16000, 44100 or 48000.`)
  } catch (error) {
    const why = error instanceof WavError ? error.message : `It cannot be read (${codeOf(error)}).${HINT}`
    problems.push(`--say ${file}: ${why}`)
  }
  return []
}

/** Lets the bot speak before each step, or only begin to, and after the last one, and hangs up then. */
function inTurns(steps: readonly CallerStep[], interrupt: boolean): readonly CallerStep[] {
  const turns = steps.flatMap((step, index): CallerStep[] => {
    const limitMs = index === 0 ? GREETING_MS : ANSWER_MS
    return interrupt
      ? [{ do: 'waitForVoice', limitMs }, { do: 'silence', ms: BARGE_IN_MS }, step]
      : [{ do: 'waitForTurn', limitMs }, step]
  })
  return [...turns, { do: 'waitForTurn', limitMs: ANSWER_MS }, { do: 'hangUp' }]
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}
