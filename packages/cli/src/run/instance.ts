import { basename } from 'node:path'
import type { InstanceSettings } from '@botcli/protocol'
import { EXIT } from '../exit-codes.ts'
import type { Io } from '../io.ts'
import type { Parsed } from '../options/parse.ts'
import { stopLimits, withSettings } from './instance-settings.ts'
import type { RUN_OPTIONS } from './options.ts'
import { resolveConfig } from './resolve.ts'
import { Stop } from './stop.ts'

/** Every container needs these elsewhere, and nobody wonders that they mean nothing here. */
const USUAL: readonly string[] = ['--host', '--port']

/** Runs a bot as an instance of the cloud, which decides what is served and reads what is said from the journal. */
export async function runInstance(
  given: Parsed<typeof RUN_OPTIONS>,
  settings: InstanceSettings,
  io: Io,
): Promise<number> {
  const { createLogger, createRedactor, findBot, Journal, secretsOf, startRunner } = await import(
    '@botcli/runner'
  )
  const { parsed, leftOut } = withSettings(given, settings)
  const surroundings = { env: io.env, cwd: io.cwd(), pageDir: undefined, inCloud: true, findBot }
  const config = await resolveConfig(parsed, surroundings)
  const journal = Journal.open(settings.journal)
  const redactor = createRedactor(secretsOf(config.env))
  const { verbose } = config
  const logger = createLogger({ stream: journal.stream, format: 'json', verbose, redactor })
  const surprising = leftOut.filter((option) => !USUAL.includes(option))
  if (surprising.length > 0) {
    logger.info(`options that the cloud decides are left out: ${surprising.join(', ')}`)
  }
  const stop = new Stop(io, (text) => logger.info(text), { hint: '', limits: stopLimits(settings) })
  try {
    const running = await startRunner(config, {
      logger,
      signal: stop.signal,
      instance: { settings, journal },
    })
    logger.info('ready', { bot: basename(config.botPath) })
    void running.orphaned.then(() => {
      logger.warn(`nobody has watched this instance for ${settings.orphanSeconds} seconds, so it ends`)
      stop.request()
    })
    return await stop.wait(running)
  } catch (error) {
    if (stop.requested) return EXIT.ok
    throw error
  } finally {
    stop.close()
    journal.close()
  }
}
