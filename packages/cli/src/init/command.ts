import {
  type Configuration,
  chooseTarget,
  listOptions,
  QUICKSTART_CONFIGURATION,
  quickstartProblems,
  resolve,
  ScaffoldError,
} from '@botcli/scaffold'
import type { Command } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { Interrupt } from '../interrupt.ts'
import type { Io } from '../io.ts'
import { parseOptions } from '../options/parse.ts'
import { UsageError } from '../usage-error.ts'
import { readConfigFile } from './config-file.ts'
import { refreshGuides } from './guides.ts'
import { help } from './help.ts'
import type { Manner } from './manner.ts'
import { nobodyToAsk } from './nobody-to-ask.ts'
import { INIT_OPTIONS, type InitRequest, requestOf } from './options.ts'
import { invalid, type Outcome } from './outcome.ts'
import { type Place, placeAt } from './place.ts'
import { makeProject } from './project.ts'
import { reportJson, reportText } from './report.ts'
import { terminalOf } from './terminal.ts'

/** `botcli init [TARGET_DIR] [options]`. */
export const initCommand: Command = {
  async run(argv, io) {
    const parsed = parseOptions(argv, INIT_OPTIONS)
    if (parsed.helpWanted) {
      io.stdout.write(help())
      return EXIT.ok
    }
    const request = requestOf(parsed)
    const problems = [...parsed.problems, ...argumentProblems(parsed.positionals)]
    if (problems.length > 0) return refuse(problems, request, io)
    if (request.listOptions) {
      io.stdout.write(`${JSON.stringify(listOptions(), null, 2)}\n`)
      return EXIT.ok
    }
    const interrupt = new Interrupt(io)
    try {
      const outcome = await init(parsed.positionals[0], request, io, interrupt).catch(outcomeOf)
      const { code, stdout, stderr } = request.json ? reportJson(outcome) : reportText(outcome)
      io.stdout.write(stdout)
      io.stderr.write(stderr)
      return outcome.kind === 'cancelled' ? (interrupt.exitCode ?? code) : code
    } finally {
      interrupt.close()
    }
  },
}

async function init(
  typed: string | undefined,
  request: InitRequest,
  io: Io,
  interrupt: Interrupt,
): Promise<Outcome> {
  const { flags, configPath, dryRun, force, overwriteGuide } = request
  const manner: Manner = { force, overwriteGuide, signal: interrupt.signal }
  const target = chooseTarget({
    flags,
    dryRun,
    ...(typed === undefined ? {} : { directory: typed }),
    ...(configPath === undefined ? {} : { configPath }),
  })
  if (target.kind === 'ask') {
    const place = target.directory === undefined ? undefined : placeAt(io.cwd(), target.directory)
    return initByAsking(place, request, manner, io)
  }
  const place = placeAt(io.cwd(), target.directory)
  if (target.kind === 'quickstart') {
    const problems = quickstartProblems(flags, configPath)
    if (problems.length > 0) return invalid(problems)
    return finish(place, QUICKSTART_CONFIGURATION, [], request, manner)
  }
  const config = configPath === undefined ? undefined : await readConfigFile(io.cwd(), configPath)
  if (config !== undefined && 'code' in config) return invalid([config])
  const configFile = config === undefined ? {} : { configFile: config }
  const resolution = resolve({ flags, directoryName: place.name, ...configFile })
  if (!resolution.ok) return invalid(resolution.problems)
  return finish(place, resolution.configuration, resolution.notices, request, manner)
}

/** Without options: guides that are there can be refreshed, everything else is asked. */
async function initByAsking(
  place: Place | undefined,
  { json, overwriteGuide }: InitRequest,
  manner: Manner,
  io: Io,
): Promise<Outcome> {
  const refreshed = overwriteGuide && place !== undefined ? await refreshGuides(place, manner) : undefined
  if (refreshed !== undefined) return refreshed
  const terminal = json ? undefined : terminalOf(io)
  if (terminal === undefined) return nobodyToAsk(place)
  const { runWizard } = await import('./wizard/wizard.ts')
  return runWizard({ place, cwd: io.cwd(), manner, terminal })
}

async function finish(
  place: Place,
  configuration: Configuration,
  notices: readonly string[],
  { dryRun }: InitRequest,
  manner: Manner,
): Promise<Outcome> {
  if (dryRun) return { kind: 'configuration', configuration, notices }
  return makeProject(place, configuration, notices, manner)
}

function argumentProblems(positionals: readonly string[]): readonly string[] {
  if (positionals.length > 1) {
    return [`TARGET_DIR is one folder, not ${positionals.length}: ${positionals.join(', ')}.`]
  }
  return positionals[0] === '' ? ['TARGET_DIR is empty.'] : []
}

/** A command line that cannot be understood. */
function refuse(problems: readonly string[], { json }: InitRequest, io: Io): number {
  if (!json) throw new UsageError(problems)
  const message = 'The command line is wrong. Nothing was written.'
  const listed = problems.map((problem) => ({ code: 'usage', message: problem }))
  const content = { status: 'error', code: 'usage', message, problems: listed }
  io.stdout.write(`${JSON.stringify(content, null, 2)}\n`)
  return EXIT.usage
}

/** What a failure means that is not a fault of ours. */
function outcomeOf(error: unknown): Outcome {
  if (!(error instanceof ScaffoldError)) throw error
  return error.code === 'cancelled' ? { kind: 'cancelled' } : { kind: 'failed', error }
}
