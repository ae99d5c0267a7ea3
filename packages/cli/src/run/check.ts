import { isIP } from 'node:net'
import { basename, extname } from 'node:path'
import { TRANSPORTS } from '@botcli/protocol'
import type { OptionValues } from '../options/option.ts'
import type { Parsed } from '../options/parse.ts'
import { type Environment, WHATSAPP_VARIABLES } from './environment.ts'
import { RUN_OPTIONS } from './options.ts'
import { isUnspecified } from './values.ts'

/** The values of all options of `botcli run`. */
export type RunValues = OptionValues<typeof RUN_OPTIONS>

/** Options that mean nothing without WebRTC. */
const WEBRTC_ONLY = ['esp32', 'icePorts', 'announcedAddress'] as const

/** Options that mean nothing without a server. */
const SERVER_ONLY = ['host', 'port', 'proxy', 'allowedOrigins', 'dialin', 'whatsapp'] as const

/** Options that mean nothing without processes. */
const PROCESS_ONLY = ['warm', 'maxMemory'] as const

/** Options that mean nothing for other bots than those in Python. */
const PYTHON_ONLY = ['python', 'pythonStart'] as const

/** Options that are right on their own and wrong together. */
export function checkCombinations({
  values,
  given,
  positionals,
}: Pick<Parsed<typeof RUN_OPTIONS>, 'values' | 'given' | 'positionals'>): readonly string[] {
  const problems: string[] = []
  const { transport, direct, host } = values
  if (positionals.length > 1) {
    problems.push(`Only one BOT can be run, not ${positionals.length}: ${positionals.join(', ')}.`)
  }
  if (positionals.includes('')) problems.push('BOT must be a file or a folder, not an empty text.')
  if (direct && transport !== undefined && transport !== 'room') {
    problems.push(`-d/--direct is for rooms, so it cannot be used with -t ${transport}. Leave -t out.`)
  }
  if (transport !== undefined && TRANSPORTS[transport].needsProxy && !given.has('proxy')) {
    problems.push(`-t ${transport} needs -x/--proxy with the public host name of this runner.`)
  }
  if (values.esp32 && (isIP(host) === 0 || isUnspecified(host))) {
    problems.push(`--esp32 needs --host with the IP address of this machine, not ${host}.`)
  }
  const only = direct ? 'room' : transport
  for (const key of WEBRTC_ONLY) {
    if (given.has(key) && only !== undefined && only !== 'webrtc') {
      problems.push(`--${RUN_OPTIONS[key].name} is for webrtc and cannot be used with ${only} alone.`)
    }
  }
  if (values.wsAuth === 'token' && only !== undefined && only !== 'websocket') {
    problems.push(`--ws-auth token is for websocket and cannot be used with ${only} alone.`)
  }
  for (const key of SERVER_ONLY) {
    if (given.has(key) && direct) {
      problems.push(`--${RUN_OPTIONS[key].name} is for the server, and -d/--direct has none.`)
    }
  }
  for (const key of PROCESS_ONLY) {
    if (given.has(key) && values.isolation === 'inline') {
      problems.push(
        `--${RUN_OPTIONS[key].name} is for bots in processes and cannot be used with --isolation inline.`,
      )
    }
  }
  return problems
}

/** Options that do not fit the language of the bot. */
export function checkLanguage(
  { values, given }: Pick<Parsed<typeof RUN_OPTIONS>, 'values' | 'given'>,
  botPath: string,
): readonly string[] {
  const bot = basename(botPath)
  if (extname(botPath) !== '.py') {
    return PYTHON_ONLY.filter((key) => given.has(key)).map(
      (key) => `--${RUN_OPTIONS[key].name} is for bots in Python, and ${bot} is none.`,
    )
  }
  if (values.isolation !== 'inline') return []
  return [`--isolation inline cannot be used with ${bot}: a bot in Python needs a process of its own.`]
}

/** Options that need variables. */
export function checkNeeds(values: RunValues, env: Environment): readonly string[] {
  const problems: string[] = []
  for (const [given, option] of [
    [values.dialin, '--dialin'],
    [values.direct, '-d/--direct'],
  ] as const) {
    if (given && !env.ROOM_API_KEY) {
      problems.push(`${option} needs ROOM_API_KEY, in the environment or in the .env beside your bot.`)
    }
  }
  const missing = WHATSAPP_VARIABLES.filter((name) => !env[name])
  if (values.whatsapp && missing.length > 0) {
    problems.push(
      `--whatsapp needs ${missing.join(', ')}, in the environment or in the .env beside your bot.`,
    )
  }
  return problems
}
