import type { EndCause, TransportId } from '@botcli/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { RunnerConfig } from '../config.ts'
import type { Dial, TestCaller } from './callers.ts'
import type { LogLine } from './log-capture.ts'
import { expectNothingLeft, lineOf, MISBEHAVING, pythonProcesses, toldProcesses } from './python-runner.ts'
import { RunnerFixture, until } from './runner-fixture.ts'

interface Failure {
  readonly act: string
  /** More than one where it depends on who notices first, the bot or its host. */
  readonly causes: readonly EndCause[]
  /** What its caller is told. */
  readonly words: RegExp
  /** A data channel that is full of messages may have no room for a last word. */
  readonly fillsChannel?: boolean
  /** A line of the bot that the log has to name. */
  readonly line?: string
  /** What the bot says to the log. */
  readonly says?: string
}

/** Who notices a flood first depends on who is slow: the bot's own process, the runner, or the client. */
const FLOODED: Pick<Failure, 'causes' | 'words'> = {
  causes: ['bot_failed', 'bot_flooded'],
  words: /messages without end|sent faster than|could take/,
}

/** How a session fails by each misbehaviour. */
const FAILURES: readonly Failure[] = [
  {
    act: 'raises',
    causes: ['bot_failed'],
    words: /TypeError: I cannot do this/,
    line: 'raise TypeError',
  },
  { act: 'raises_in_callback', causes: ['bot_failed'], words: /ZeroDivisionError/, line: 'print(1 / 0)' },
  { act: 'raises_in_task', causes: ['bot_failed'], words: /nobody waits for me/, line: 'raise LookupError' },
  { act: 'raises_in_listener', causes: ['bot_failed'], words: /what a noise/, line: 'raise ValueError' },
  { act: 'exits', causes: ['bot_exited'], words: /exited with code 3/ },
  { act: 'exits_politely', causes: ['bot_exited'], words: /exited with code 4/ },
  { act: 'exits_with_words', causes: ['bot_exited'], words: /exited with code 1/, says: 'I had enough' },
  { act: 'aborts', causes: ['bot_exited'], words: /was ended by SIGABRT/ },
  { act: 'reads_nowhere', causes: ['bot_exited'], words: /was ended by SIGSEGV/ },
  { act: 'leaves_heir', causes: ['bot_exited'], words: /exited with code 5/ },
  { act: 'leaks', causes: ['bot_out_of_memory'], words: /memory/ },
  { act: 'floods_messages', ...FLOODED, fillsChannel: true },
  { act: 'floods_messages_in_turns', ...FLOODED, fillsChannel: true },
  { act: 'floods_sound', causes: ['bot_failed'], words: /60 seconds of sound are queued/ },
]

/** Is noticed after half a minute. */
const UNRESPONSIVE: Failure = {
  act: 'stands_still',
  causes: ['bot_unresponsive'],
  words: /did not react for 3\d seconds/,
}

/** One of each kind. */
const BRIEF = ['raises', 'raises_in_task', 'exits', 'aborts', 'leaves_heir', 'leaks']

/** Who calls, and whom. */
export interface MisbehaviourOptions {
  readonly transports: readonly TransportId[]
  readonly dial: () => Dial
  readonly config?: Partial<RunnerConfig>
  /** Leaves out what does not depend on how the bot was started, and what takes long. */
  readonly brief?: boolean
}

/** What a caller of each of these transports goes through with a bot that misbehaves. */
export function itSurvivesMisbehaviour({ transports, dial, config, brief }: MisbehaviourOptions): void {
  // The one that takes long is the first to begin.
  const failures = brief ? FAILURES.filter(({ act }) => BRIEF.includes(act)) : [UNRESPONSIVE, ...FAILURES]
  let runner: RunnerFixture
  let healthy: readonly TestCaller[]

  beforeAll(async () => {
    runner = await RunnerFixture.start(MISBEHAVING, { maxMemoryBytes: 256 * 1024 * 1024, ...config })
    healthy = await everyone('stays')
  })
  afterAll(async () => {
    // Whatever the others did, these have not noticed, and the next ones are served.
    const later = await everyone('stays')
    for (const { sessionId } of [...healthy, ...later]) {
      expect((await runner.session(sessionId)).state).toBe('active')
    }
    await Promise.all(later.map((caller) => caller.leave()))
    await Promise.all(later.map(({ sessionId }) => expectNothingLeft(runner, sessionId)))
    const goodbyes = Promise.all(healthy.map((caller) => caller.ended()))
    await runner.close()
    for (const { code = 1012, words } of await goodbyes) {
      expect(code).toBe(1012)
      expect(words).toContain('shutting down')
    }
    expect(pythonProcesses()).toEqual([])
  })

  const linesOf = ({ sessionId }: TestCaller): readonly LogLine[] =>
    runner.log.lines.filter((line) => line.sessionId === sessionId)

  /** A line of a caller's bot, once it is there. */
  const told = (caller: TestCaller, words: string) =>
    until(() => linesOf(caller).find(({ msg }) => msg.includes(words)), `"${words}" of the bot`)

  /** One caller for each transport, whose bot does this. */
  function everyone(act: string): Promise<readonly TestCaller[]> {
    return Promise.all(
      transports.map(async (transport) => {
        const caller = await dial()(runner, transport, { act })
        await until(() => toldProcesses(runner, caller.sessionId).length > 0, 'the bot to hear its caller')
        return caller
      }),
    )
  }

  function forEveryone(act: string, look: (caller: TestCaller) => Promise<void>): Promise<unknown> {
    return everyone(act).then((callers) => Promise.all(callers.map(look)))
  }

  it.concurrent.each(failures.map((failure) => [failure.act, failure] as const))(
    'that %s',
    async (act, { causes, words, line, says, fillsChannel }) => {
      const place = line && (await lineOf(MISBEHAVING, line))
      await forEveryone(act, async (caller) => {
        const { code = 1011, words: heard } = await caller.ended()
        if (!fillsChannel || caller.transport !== 'webrtc') expect(heard).toMatch(words)
        expect(code).toBe(1011)
        const { outcome } = await runner.ended(caller.sessionId)
        expect(outcome).toMatchObject({ result: 'failed', message: expect.stringMatching(words) })
        expect(causes).toContain(outcome?.cause)
        await expectNothingLeft(runner, caller.sessionId)
        if (says !== undefined) expect(await told(caller, says)).toMatchObject({ from: 'bot' })
        if (place !== undefined) {
          const traceback = linesOf(caller).find(({ msg }) => msg.includes('Traceback'))
          expect(traceback).toMatchObject({ from: 'bot', level: 'error' })
          expect(traceback?.msg).toContain(`misbehaving.py", line ${place}, in`)
        }
      })
    },
  )

  it.concurrent('that stands still, which the log says with its place', async () => {
    const place = await lineOf(MISBEHAVING, 'async def stands_still')
    await forEveryone('stands_still', async (caller) => {
      const line = await told(caller, 'and still is')
      expect(line).toMatchObject({ level: 'warn', at: expect.stringMatching(`misbehaving.py:${place + 1}$`) })
      await caller.leave()
      // It does not hear of it, so that it is killed.
      expect((await runner.ended(caller.sessionId)).outcome).toMatchObject({ cause: 'client_left' })
      await expectNothingLeft(runner, caller.sessionId)
    })
  })

  it.concurrent('that blocks its loop for a while, and goes on', async () => {
    const first = await lineOf(MISBEHAVING, 'while time.monotonic()')
    await forEveryone('blocks', async (caller) => {
      const { ms, at } = await told(caller, 'was blocked for')
      expect(Number(ms)).toBeGreaterThan(500)
      expect([first, first + 1].map((number) => `misbehaving.py:${number}`)).toContain(
        String(at).split('/').at(-1),
      )
      await caller.press('7')
      await told(caller, 'keys 7')
      await caller.leave()
      await expectNothingLeft(runner, caller.sessionId)
    })
  })

  it.concurrent.each([
    ['ignores_cancel', 'I stay'],
    ['blocks_at_its_end', 'and still is'],
  ])('that %s is killed at the deadline', async (act, words) => {
    await forEveryone(act, async (caller) => {
      await caller.leave()
      const { outcome } = await runner.ended(caller.sessionId)
      expect(outcome).toMatchObject({ result: 'ok', cause: 'client_left' })
      await expectNothingLeft(runner, caller.sessionId)
      await told(caller, words)
    })
  })

  it.concurrent('that leaves threads and processes behind', async () => {
    await forEveryone('leaves_work', async (caller) => {
      const { code = 1000 } = await caller.ended()
      expect(code).toBe(1000)
      expect((await runner.ended(caller.sessionId)).outcome).toMatchObject({ cause: 'bot_returned' })
      expect(toldProcesses(runner, caller.sessionId)).toHaveLength(3)
      await expectNothingLeft(runner, caller.sessionId)
    })
  })

  if (brief) return

  it.concurrent('that prints without end, of which the log keeps a part and says so', async () => {
    await forEveryone('prints', async (caller) => {
      const kept = () => linesOf(caller).flatMap(({ msg }) => /^line (\d+)$/.exec(msg)?.[1] ?? [])
      await until(() => Number(kept().at(-1)) > 10_000, 'the later lines')
      await caller.leave()
      await expectNothingLeft(runner, caller.sessionId)
      const counts = linesOf(caller).flatMap(({ msg }) => /; (\d+) lines are left out$/.exec(msg)?.[1] ?? [])
      const leftOut = counts.map(Number).reduce((sum, count) => sum + count, 0)
      expect(leftOut).toBeGreaterThan(0)
      expect(kept().length + leftOut).toBe(Number(kept().at(-1)) + 1)
    })
  })

  it.concurrent('that hears slowly: old sound is dropped and counted, and nothing piles up', async () => {
    await forEveryone('hears_slowly', async (caller) => {
      await told(caller, 'listens')
      const counters = await until(async () => {
        const { counters } = await runner.session(caller.sessionId)
        return (counters?.audioInDroppedMs ?? 0) >= 3000 && counters
      }, 'sound to be dropped')
      // Half a second on its way to the bot and a second that waits, and what came before it stopped to listen.
      expect(counters.audioInMs - counters.audioInDroppedMs).toBeLessThan(3000)
      await caller.press('9')
      // The old sound was dropped, not the new.
      const missed = Number((await told(caller, 'missed')).msg.split(' ')[1])
      expect(missed).toBeGreaterThan(2500)
      await caller.leave()
      await expectNothingLeft(runner, caller.sessionId)
    })
  })
}
