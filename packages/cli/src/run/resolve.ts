import { resolve } from 'node:path'
import type { BotFile, RunnerConfig } from '@botcli/runner'
import type { Parsed } from '../options/parse.ts'
import { UsageError } from '../usage-error.ts'
import { checkCombinations, checkLanguage, checkNeeds } from './check.ts'
import { checkEnvironment, cloudEnvironment, type Environment, readEnvironment } from './environment.ts'
import type { RUN_OPTIONS } from './options.ts'

/** Where a configuration comes from, besides the command line. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly pageDir: string | undefined
  /** Whether this is an instance of the cloud rather than a developer's machine. */
  readonly inCloud?: boolean
  findBot(given: string | undefined, cwd: string): Promise<BotFile>
}

/** Makes the configuration, or throws one {@link UsageError} with everything that is wrong. */
export async function resolveConfig(
  parsed: Parsed<typeof RUN_OPTIONS>,
  { env: real, cwd, pageDir, inCloud = false, findBot }: Surroundings,
): Promise<RunnerConfig> {
  const problems = [...parsed.problems, ...checkCombinations(parsed)]
  // Variables can be judged only when the bot's .env is known; a missing bot must not hide other problems.
  const found = await settle(findBot(parsed.positionals[0], cwd))
  if ('error' in found) {
    if (problems.length > 0) throw new UsageError(problems)
    throw found.error
  }
  const bot = found.value
  problems.push(...checkLanguage(parsed, bot.path))
  const env = inCloud
    ? cloudEnvironment(real)
    : { ...(await readEnvironment(bot.folder, real)), ENV: 'local' }
  const variables = checkEnvironment(env)
  problems.push(...variables.problems, ...checkNeeds(parsed.values, env))
  if (problems.length > 0) throw new UsageError(problems)
  return build(parsed.values, bot, env, variables, { cwd, pageDir })
}

function build(
  values: Parsed<typeof RUN_OPTIONS>['values'],
  bot: BotFile,
  env: Environment,
  { allowedOrigins, room, telephony, whatsapp }: ReturnType<typeof checkEnvironment>,
  { cwd, pageDir }: Pick<Surroundings, 'cwd' | 'pageDir'>,
): RunnerConfig {
  const { proxy, icePorts, announcedAddress, python } = values
  const transport = values.direct ? 'room' : values.transport
  return {
    host: values.host,
    port: values.port,
    allowedOrigins: [...new Set(values.allowedOrigins ?? allowedOrigins)],
    esp32: values.esp32,
    direct: values.direct,
    dialin: values.dialin,
    evals: values.evals,
    verbose: values.verbose,
    maxSessions: values.maxSessions,
    maxSessionDurationMs: values.maxSessionDuration,
    maxMemoryBytes: values.maxMemory,
    warm: values.isolation === 'inline' ? 0 : values.warm,
    isolation: values.isolation,
    python: {
      start: values.pythonStart,
      // Bots run in their own folder, where a path from here would mean something else.
      ...(python !== undefined && { path: python.includes('/') ? resolve(cwd, python) : python }),
    },
    wsAuth: values.wsAuth,
    // npm says so in the environment of what it starts, and so does `python bot.py`.
    command: env.BOTCLI_COMMAND ?? (env.npm_command === undefined ? 'botcli' : 'npx botcli'),
    botPath: bot.path,
    botFolder: bot.folder,
    env,
    room,
    telephony,
    ...(values.whatsapp && whatsapp && { whatsapp }),
    ...(transport !== undefined && { transport }),
    ...(proxy !== undefined && { proxy }),
    ...(icePorts !== undefined && { icePorts }),
    ...(announcedAddress !== undefined && { announcedAddress }),
    ...(pageDir !== undefined && { pageDir }),
  }
}

async function settle<T>(promise: Promise<T>): Promise<{ value: T } | { error: unknown }> {
  try {
    return { value: await promise }
  } catch (error) {
    return { error }
  }
}
