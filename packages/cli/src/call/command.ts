import { writeFile } from 'node:fs/promises'
import { encodeWav } from '@botcli/audio'
import { type CallReport, PhoneCall } from '@botcli/media/phone'
import type { Command } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { Interrupt } from '../interrupt.ts'
import type { Io } from '../io.ts'
import { optionsHelp } from '../options/help.ts'
import type { OptionValues } from '../options/option.ts'
import { parseOptions } from '../options/parse.ts'
import { paintFor } from '../paint.ts'
import { RemoteError } from '../remote/remote-error.ts'
import { startAgentCall } from './agent-start.ts'
import { openKeypad } from './keypad.ts'
import { CALL_OPTIONS } from './options.ts'
import { type CallPlan, planCall } from './plan.ts'
import { StartError, startSession } from './target.ts'
import { formatEvent, formatSummary } from './time-line.ts'
import { misbehavioursHelp } from './values.ts'
import { faultsOf } from './verdict.ts'

/** How a reason ends that was too long for what closes a call. */
const CUT_SIGN = '…'

type CallValues = OptionValues<typeof CALL_OPTIONS>

/** `botcli call [URL] [options]`. */
export const callCommand: Command = {
  async run(argv, io) {
    const parsed = parseOptions(argv, CALL_OPTIONS)
    if (parsed.helpWanted) {
      io.stdout.write(help())
      return EXIT.ok
    }
    const plan = await planCall(parsed, io.cwd())
    const interrupt = new Interrupt(io)
    try {
      const code = await call(plan, parsed.values, io, interrupt)
      return interrupt.exitCode ?? code
    } catch (error) {
      if (interrupt.exitCode !== undefined) return interrupt.exitCode
      if (!(error instanceof StartError) && !(error instanceof RemoteError)) throw error
      io.stderr.write(`botcli call: ${error.message}\n`)
      return EXIT.failed
    } finally {
      interrupt.close()
    }
  },
}

async function call(plan: CallPlan, values: CallValues, io: Io, interrupt: Interrupt): Promise<number> {
  const { misbehaviours } = plan
  const { carrier, origin, from, to, seed, limit, json } = values
  const { url, whyEnded } = await addressOf(plan, values, io, interrupt.signal)
  const paint = paintFor(io.stdout.isTTY === true && !io.env.NO_COLOR)
  const phone = new PhoneCall({
    url,
    carrier,
    ...(origin && { origin }),
    from,
    to,
    seed,
    limitMs: limit,
    misbehaviours,
    coding: plan.coding,
    script: plan.script,
    custom: plan.custom,
    signal: interrupt.signal,
    onEvent: (event) =>
      io.stdout.write(json ? `${JSON.stringify(event)}\n` : (formatEvent(event, paint) ?? '')),
  })
  if (io.stdin?.isTTY && !json) io.stdout.write("  Keys 0-9 * # are the phone's; q hangs up.\n")
  const closeKeypad = openKeypad(io.stdin, {
    press: (key) => phone.press(key),
    hangUp: () => phone.hangUp('q was pressed'),
    interrupt: () => interrupt.press('SIGINT'),
  })
  const report = await whole(await phone.ended.finally(closeKeypad), whyEnded)
  const faults = faultsOf(report, misbehaviours)
  io.stdout.write(
    json ? `${JSON.stringify(summary(report, faults))}\n` : formatSummary(report, faults, paint),
  )
  const unsaved = await save(report, plan)
  const all = [...(interrupt.exitCode === undefined ? faults : []), ...unsaved]
  for (const fault of all) io.stderr.write(`botcli call: ${fault}\n`)
  return all.length === 0 ? EXIT.ok : EXIT.failed
}

/** Where to call, and who is asked why it ended, where somebody knows. */
interface Address {
  readonly url: string
  readonly whyEnded?: () => Promise<string | undefined>
}

/** The report with all of the words that the call was closed with, where these were cut. */
async function whole(report: CallReport, whyEnded: Address['whyEnded']): Promise<CallReport> {
  const { closed } = report
  if (!whyEnded || closed.by !== 'runner' || !closed.reason.endsWith(CUT_SIGN)) return report
  return { ...report, closed: { ...closed, reason: (await whyEnded()) ?? closed.reason } }
}

/** Where to call: a session may have to be asked for first. */
async function addressOf(
  { place }: CallPlan,
  { carrier: transport, body, origin, json }: CallValues,
  io: Io,
  signal: AbortSignal,
): Promise<Address> {
  if (place.kind === 'runner') {
    if (!body) return { url: place.wsUrl }
    return { url: await startSession(place.startUrl, { transport, body, origin }, signal) }
  }
  const { agent, key } = place
  const { sessionId, wsUrl, whyEnded } = await startAgentCall({ agent, key, transport, body, signal }, io)
  io.stdout.write(
    json
      ? `${JSON.stringify({ type: 'session', agent, sessionId })}\n`
      : `  Session ${sessionId} of ${agent}; its log: botcli session logs ${agent} ${sessionId.slice(0, 8)}\n`,
  )
  return { url: wsUrl, whyEnded }
}

/** What a program wants to know at the end. */
function summary(report: CallReport, faults: readonly string[]): object {
  const { events: _, said: __, heard: ___, ...rest } = report
  return { type: 'summary', ok: faults.length === 0, faults, ...rest }
}

async function save(
  { heard, said, coding: { rate } }: CallReport,
  plan: CallPlan,
): Promise<readonly string[]> {
  const files = [
    [plan.save, [heard]],
    [plan.saveBoth, [said, heard]],
  ] as const
  const problems: string[] = []
  for (const [path, channels] of files) {
    if (path === undefined) continue
    await writeFile(path, encodeWav({ rate, channels })).catch((error: Error) => {
      problems.push(`${path} could not be written (${error.message}).`)
    })
  }
  return problems
}

function help(): string {
  return `Call a bot as a phone carrier would, without a phone.

Usage: botcli call [URL] [options]
       botcli call --agent NAME [options]

URL is a runner such as http://localhost:7860, which is the default, or a WebSocket of one. The caller does
what --say, --speech and --keys tell, in their order, each after the bot has had its turn, and hangs up
after its last answer; without any of them, it says two seconds of generated speech. In a terminal you can
press keys (0-9 * #) while the call lasts, and q to hang up.

Options:
${optionsHelp(CALL_OPTIONS)}

Ways to misbehave, with what holds without a value:
${misbehavioursHelp()}

Exit codes:
  0  the call was answered and the bot was heard
  1  it was not answered, was refused or broke, nothing was heard, the time was up too early, or the runner
     broke the carrier's protocol
  2  the command line is wrong
`
}
