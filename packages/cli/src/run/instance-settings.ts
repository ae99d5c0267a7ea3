import { readFile } from 'node:fs/promises'
import { INSTANCE_VARIABLE, type InstanceSettings, instanceSettings } from '@botcli/protocol'
import { type Parsed, parseOptions } from '../options/parse.ts'
import { UsageError } from '../usage-error.ts'
import { RUN_OPTIONS } from './options.ts'
import type { StopLimits } from './stop.ts'

type Options = typeof RUN_OPTIONS

/** Options that are about the bot, rather than about what is served and how. */
const ABOUT_THE_BOT = ['allowedOrigins', 'python', 'pythonStart', 'verbose'] as const

/** What the environment says that this is: an instance with these settings, or nothing if it is a developer's machine. */
export async function readInstanceSettings(
  env: Readonly<Record<string, string | undefined>>,
): Promise<InstanceSettings | undefined> {
  const path = env[INSTANCE_VARIABLE]
  if (!path) return undefined
  let value: unknown
  try {
    value = JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    throw wrong(path, error instanceof Error ? error.message : String(error))
  }
  const parsed = instanceSettings.safeParse(value)
  if (parsed.success) return parsed.data
  throw wrong(
    path,
    parsed.error.issues.map(({ path: at, message }) => `${at.join('.') || 'it'}: ${message}`).join('; '),
  )
}

/** The command line as an instance understands it, and the options of it that an instance leaves out. */
export function withSettings(
  { values, given, ...parsed }: Parsed<Options>,
  settings: InstanceSettings,
): { readonly parsed: Parsed<Options>; readonly leftOut: readonly string[] } {
  const { allowedOrigins, python, pythonStart, verbose } = values
  const kept = new Set<keyof Options>(ABOUT_THE_BOT.filter((key) => given.has(key)))
  return {
    parsed: {
      ...parsed,
      given: kept,
      values: {
        ...parseOptions([], RUN_OPTIONS).values,
        ...{ allowedOrigins, python, pythonStart, verbose },
        maxSessions: settings.maxSessions,
        maxSessionDuration: settings.maxSessionSeconds * 1000,
        maxMemory: settings.maxMemoryBytes,
        warm: settings.warm,
        icePorts: settings.icePorts,
        announcedAddress: settings.announcedAddress,
      },
    },
    leftOut: [...given].filter((key) => !kept.has(key)).map((key) => `--${RUN_OPTIONS[key].name}`),
  }
}

/** What is left of the time to end, when bots had theirs, so that all else can be ended and written down. */
const LAST_MS = 2000

/** How long an instance takes to end: its bots get what they can have of the time after which the cloud kills it. */
export function stopLimits({ stopSeconds }: InstanceSettings): StopLimits {
  // The cloud kills at once if there is no time at all; whoever else ends it does not.
  const allMs = Math.max(stopSeconds, 1) * 1000
  return { botsMs: Math.max(allMs - LAST_MS, 0), allMs }
}

function wrong(path: string, why: string): UsageError {
  return new UsageError([
    `${INSTANCE_VARIABLE} names ${path}, which cannot be used: ${why}. Only the cloud sets this variable; unset it elsewhere.`,
  ])
}
