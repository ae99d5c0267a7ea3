import { inspect } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import type { LinkStream } from '@botcli/protocol'
import type { BotFunction } from '../bot-function.ts'
import { botOf } from './bot-module.ts'
import { openFdLink } from './fd-link.ts'
import { type GuestResult, runGuest } from './guest.ts'
import { startLoopWatch } from './loop-watch.ts'
import { warmUpRequests } from './request-server.ts'

/** The descriptor on which the runner put the link. */
const LINK_FD = 3
/** How long a bot may take to return when the guest itself is told to stop. */
const TERMINATE_MS = 5000

// The code of a call runs fifty times a second, which by default is too seldom to be compiled well within minutes. An engine
// that does not know this goes on as it is.
setFlagsFromString('--interrupt-budget=20000')

/** The process that runs one JavaScript bot: this file is its entry, and the runner is its parent. */
function main(): void {
  // Before the user's code, which may stand still from its first line.
  const watch = startLoopWatch()
  const guest = runGuest({
    stream: openLink(),
    loadBot,
    pid: process.pid,
    runtime: `node ${process.versions.node}`,
    onIdle: () => void warmUpRequests(),
    onStart: () => watch?.report(),
    onLateError: (error) => process.stderr.write(`${inspect(error)}\n`),
    onDone: exit,
  })
  process.on('uncaughtException', (error) => guest.fail(error))
  process.on('unhandledRejection', (reason) => guest.fail(reason))
  // When the runner is gone, so are the readers of the log. Each line would be an error, and each error a line.
  process.stdout.on('error', () => {})
  process.stderr.on('error', () => {})
  // A terminal interrupts the whole group; what that means for a session is for the runner to say.
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => {
    guest.cancel({ cause: 'shutdown', message: 'the guest was told to stop' }, TERMINATE_MS)
  })
}

function openLink(): LinkStream {
  try {
    return openFdLink(LINK_FD)
  } catch (cause) {
    throw new Error('file descriptor 3 is not a link; a guest is started by the runner, not by hand', {
      cause,
    })
  }
}

async function loadBot(): Promise<BotFunction> {
  const url = process.env.BOTCLI_BOT_URL
  if (url === undefined) throw new Error('BOTCLI_BOT_URL is not set; it names the bot file to load, as a URL')
  return botOf(await import(url))
}

/** Leaves even if the user's code still holds timers or sockets, but not before its last lines are written. */
function exit(result: GuestResult): void {
  if (result.message !== undefined) process.stderr.write(`${result.message}\n`)
  process.stdout.write('', () => process.stderr.write('', () => process.exit(result.ok ? 0 : 1)))
}

main()
