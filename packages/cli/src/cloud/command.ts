import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import type { RunningCloud } from '@botcli/cloud'
import type { Command } from '../command.ts'
import { EXIT, SIGNAL_EXIT } from '../exit-codes.ts'
import { Interrupt } from '../interrupt.ts'
import type { Io } from '../io.ts'
import { optionsHelp } from '../options/help.ts'
import type { OptionValues } from '../options/option.ts'
import { parseOptions } from '../options/parse.ts'
import { ownProgram } from '../own-program.ts'
import { UsageError } from '../usage-error.ts'
import { ownVersion } from '../version.ts'
import { formatGreeting, formatKeys, formatOrganization, type GreetingInput, reach } from './greeting.ts'
import { npmPacker } from './npm-packer.ts'
import { CLOUD_OPTIONS } from './options.ts'
import { signIn } from './sign-in.ts'
import { defaultDataFolder } from './values.ts'

/** Builds get this long to end by themselves. */
const DRAIN_MS = 5000
/** After this long the command ends, whatever still hangs; what was being built is ended at the next start. */
const EXIT_DEADLINE_MS = 20_000

/** `botcli cloud [options]`. */
export const cloudCommand: Command = {
  async run(argv, io) {
    const parsed = parseOptions(argv, CLOUD_OPTIONS)
    if (parsed.helpWanted) {
      io.stdout.write(help())
      return EXIT.ok
    }
    const extra = parsed.positionals.map((text) => `Unexpected argument ${JSON.stringify(text)}.`)
    const problems = [...parsed.problems, ...extra]
    if (problems.length > 0) throw new UsageError(problems)
    const interrupt = new Interrupt(io)
    try {
      return await serve(parsed.values, io, interrupt)
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'CloudError') throw error
      io.stderr.write(`botcli cloud: ${error.message}\n`)
      return EXIT.failed
    } finally {
      interrupt.close()
    }
  },
}

async function serve(
  values: OptionValues<typeof CLOUD_OPTIONS>,
  io: Io,
  interrupt: Interrupt,
): Promise<number> {
  const [{ startCloud }, { createLogger }] = await Promise.all([
    import('@botcli/cloud'),
    import('@botcli/runner/logger'),
  ])
  const { host, port } = values
  const dataFolder = values.data === undefined ? defaultDataFolder(io.env) : resolve(io.cwd(), values.data)
  const log = createLogger({ stream: io.stdout, env: io.env })
  const version = ownVersion()
  const cloud = await startCloud({
    ...{
      dataFolder,
      host,
      port,
      log,
      version,
      newKey: values.newKey,
      newOrganization: values.newOrganization,
    },
    ...builtPages(),
    // Agents are run by this same program, and images have it inside.
    runner: ownProgram(),
    platform: npmPacker(io.env),
  })
  const key = cloud.firstKeys?.privateKey ?? cloud.newKey
  const publicKey = cloud.firstKeys?.publicKey
  const credentials = key && { url: cloud.url, key, ...(publicKey && { publicKey }) }
  const signedIn = credentials ? await signIn(credentials, io.env) : undefined
  greet({ cloud, host, dataFolder, version, signedIn }, io, log)
  if (!interrupt.signal.aborted) {
    await new Promise((settle) => interrupt.signal.addEventListener('abort', settle, { once: true }))
  }
  await stop(cloud, { io, log, endAgents: interrupt.exitCode === SIGNAL_EXIT.SIGINT })
  return EXIT.ok
}

function greet(input: GreetingInput, io: Io, log: { info(message: string, fields?: object): void }): void {
  const isTerminal = io.stdout.isTTY === true
  const color = isTerminal && !io.env.NO_COLOR
  // In one piece, since another command may be writing to the same terminal.
  if (isTerminal)
    io.stdout.write(
      formatGreeting(input, color) + formatKeys(input, color) + formatOrganization(input, color),
    )
  else {
    const { cloud, dataFolder, host } = input
    log.info('ready', { url: cloud.url, data: dataFolder, security: reach(host) })
    io.stdout.write(formatKeys(input, color) + formatOrganization(input, color))
  }
}

interface StopOptions {
  readonly io: Io
  readonly log: { info(message: string): void }
  /** Whoever presses Ctrl-C wants everything to end. Whoever ends the process, such as an upgrade, wants calls to go on. */
  readonly endAgents: boolean
}

async function stop(cloud: RunningCloud, { io, log, endAgents }: StopOptions): Promise<void> {
  const ending = [
    ...counted(cloud.builds, 'build'),
    ...(endAgents ? [...counted(cloud.instances, 'instance'), ...counted(cloud.sessions, 'session')] : []),
  ]
  const what = ending.length === 0 ? 'Stopping the cloud' : `Ending ${ending.join(', ')}`
  log.info(`${what}… press Ctrl-C again to stop at once`)
  const left = counted(cloud.instances, 'instance')
  if (!endAgents && left.length > 0)
    log.info(`${left.join()} of agents go on, and are found by the next start`)
  const limitMs = EXIT_DEADLINE_MS + (endAgents ? cloud.config.agents.stopSeconds * 1000 : 0)
  const timer = setTimeout(() => {
    log.info('It did not end in time and is stopped now')
    io.exit(EXIT.failed)
  }, limitMs)
  await cloud.close({ deadlineMs: DRAIN_MS, endAgents })
  clearTimeout(timer)
}

function counted(count: number, what: string): readonly string[] {
  return count === 0 ? [] : [`${count} ${what}${count === 1 ? '' : 's'}`]
}

/** The folders of the built dashboard and of the talk page, if they were built. */
function builtPages(): { readonly dashboardFolder: string; readonly talkFolder: string } | undefined {
  const client = createRequire(import.meta.url).resolve('@botcli/client/package.json')
  const talkFolder = join(dirname(client), 'dist')
  const dashboardFolder = join(talkFolder, 'cloud')
  const isBuilt = [talkFolder, dashboardFolder].every((folder) => existsSync(join(folder, 'index.html')))
  return isBuilt ? { dashboardFolder, talkFolder } : undefined
}

function help(): string {
  return `Run a cloud on this machine: it builds bots, runs them, and keeps their logs and secrets.

Usage: botcli cloud [options]

The first start makes an organization with a private and a public key, shows them once, and signs you
in. If the private key is lost, or was never seen, start with --new-key: it makes another one, and
those that are there stay. Everything is kept in one folder; regions and limits are set in its cloud.json.

Ctrl-C ends the cloud and its agents. SIGTERM ends the cloud only: agents and their calls go on, and the
next start finds them again.

Options:
${optionsHelp(CLOUD_OPTIONS)}
`
}
