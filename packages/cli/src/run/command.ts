import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import type { DirectSession, Logger, RunnerConfig } from '@botcli/runner'
import type { Command } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import type { Io } from '../io.ts'
import { optionsHelp } from '../options/help.ts'
import { parseOptions } from '../options/parse.ts'
import { ownVersion } from '../version.ts'
import { type BannerInput, formatBanner, makeBanner } from './banner.ts'
import { runInstance } from './instance.ts'
import { readInstanceSettings } from './instance-settings.ts'
import { RUN_OPTIONS } from './options.ts'
import { resolveConfig } from './resolve.ts'
import { Stop } from './stop.ts'

/** `botcli run [BOT] [options]`. */
export const runCommand: Command = {
  async run(argv, io) {
    const parsed = parseOptions(argv, RUN_OPTIONS)
    if (parsed.helpWanted) {
      io.stdout.write(help())
      return EXIT.ok
    }
    const settings = await readInstanceSettings(io.env)
    if (settings !== undefined) return runInstance(parsed, settings, io)
    const { findBot } = await import('@botcli/runner')
    const config = await resolveConfig(parsed, { env: io.env, cwd: io.cwd(), pageDir: builtPage(), findBot })
    return serve(config, io)
  },
}

async function serve(config: RunnerConfig, io: Io): Promise<number> {
  const { createLogger, createRedactor, secretsOf, startDirect, startRunner } = await import('@botcli/runner')
  const redactor = createRedactor(secretsOf(config.env))
  const logger = createLogger({ stream: io.stdout, verbose: config.verbose, env: io.env, redactor })
  const stop = new Stop(io, (text) => logger.info(text))
  try {
    if (config.direct) {
      const direct = await startDirect(config, { logger, signal: stop.signal })
      io.stdout.write(`\n  Join the room: ${direct.joinUrl}\n\n`)
      return await untilOver(direct, stop)
    }
    const running = await startRunner(config, { logger, signal: stop.signal })
    greet(config, running, io, logger)
    return await stop.wait(running)
  } catch (error) {
    // Whatever breaks while it stops broke because it stops: a terminal's signal reaches helpers too.
    if (stop.requested) return EXIT.ok
    throw error
  } finally {
    stop.close()
  }
}

/** Waits for the bot or for a signal, whichever comes first. */
async function untilOver(direct: DirectSession, stop: Stop): Promise<number> {
  const stopped = stop.wait(direct)
  const over = direct.ended.then(({ outcome }) => (outcome?.result === 'failed' ? EXIT.failed : EXIT.ok))
  const code = await Promise.race([stopped, over])
  await direct.close({ deadlineMs: 0 })
  return code
}

function greet(
  config: RunnerConfig,
  running: Pick<BannerInput, 'url' | 'transports'>,
  io: Io,
  logger: Logger,
): void {
  const bot = relative(io.cwd(), config.botPath) || config.botPath
  const input = { config, url: running.url, transports: running.transports, version: ownVersion(), bot }
  const banner = makeBanner(input)
  if (io.stdout.isTTY) {
    io.stdout.write(formatBanner(banner, input, !io.env.NO_COLOR))
    return
  }
  const on = banner.transports.filter((line) => line.on)
  logger.info('ready', {
    url: banner.url,
    ...(banner.page && { page: banner.page }),
    bot,
    transports: on.map((line) => line.transport),
    needs: Object.fromEntries(on.filter((line) => line.note).map((line) => [line.transport, line.note])),
    addresses: banner.addresses,
    security: banner.security,
    notes: banner.hints,
  })
}

/** The folder of the built browser page, if it was built. */
function builtPage(): string | undefined {
  const client = createRequire(import.meta.url).resolve('@botcli/client/package.json')
  const folder = join(dirname(client), 'dist')
  return existsSync(join(folder, 'index.html')) ? folder : undefined
}

function help(): string {
  return `Run a bot on this machine and talk to it.

Usage: botcli run [BOT] [options]

BOT is a file or a folder. Without it, the bot is looked for in the current folder and then in its
server folder: bot.ts, bot.mts, bot.js, bot.mjs, bot.py, or else the one file that exports "bot".

Options:
${optionsHelp(RUN_OPTIONS)}

Variables, from the environment or the .env beside your bot (the environment wins):
  ROOM_API_KEY, ROOM_SAMPLE_ROOM_URL, ROOM_API_URL, ROOM_DIALIN_SECRET
  TELEPHONY_A_ACCOUNT_ID, TELEPHONY_A_AUTH_TOKEN, TELEPHONY_A_API_URL
  TELEPHONY_B_API_KEY, TELEPHONY_B_PUBLIC_KEY, TELEPHONY_B_API_URL
  TELEPHONY_C_AUTH_ID, TELEPHONY_C_AUTH_TOKEN, TELEPHONY_C_API_URL
  WHATSAPP_APP_SECRET, WHATSAPP_PHONE_NUMBER_ID, WHATSAPP_TOKEN,
  WHATSAPP_WEBHOOK_VERIFICATION_TOKEN, WHATSAPP_API_URL
  BOT_ALLOWED_ORIGINS
Your bot sees ENV=local.
`
}
