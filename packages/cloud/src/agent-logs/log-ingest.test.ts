import type { JournalLine, JournalRecord } from '@botcli/protocol'
import { describe, expect, it } from 'vitest'
import { RedactionTable } from '../logs/redaction-table.ts'
import { LogIngest } from './log-ingest.ts'

const ORIGIN = {
  deploymentId: '11111111-1111-4111-8111-111111111111',
  instanceId: '22222222-2222-4222-8222-222222222222',
}
const SESSION = '33333333-3333-4333-8333-333333333333'
const START = { now: 5000, isReady: false }
const RUN = { now: 5000, isReady: true }

async function ingest(...secrets: readonly string[]): Promise<LogIngest> {
  return new LogIngest(ORIGIN, await RedactionTable.of(secrets))
}

function line(fields: Partial<JournalLine> = {}): JournalRecord {
  return { type: 'log', line: { time: '2026-01-02T03:04:05.678Z', level: 'info', msg: 'hello', ...fields } }
}

async function textOf(
  fields: Partial<JournalLine>,
  ...secrets: readonly string[]
): Promise<string | undefined> {
  return (await ingest(...secrets)).records([line(fields)], RUN)[0]?.text
}

describe('a line of a journal', () => {
  it('becomes an entry with its time, level and session', async () => {
    const [entry] = (await ingest()).records([line({ level: 'warn', sessionId: SESSION, from: 'bot' })], RUN)
    expect(entry).toEqual({
      ...ORIGIN,
      time: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
      source: 'run',
      level: 'warn',
      text: 'hello',
      sessionId: SESSION,
    })
  })

  it('is of the start until the instance is ready, unless it is of a session', async () => {
    const entries = (await ingest()).records([line(), line({ sessionId: SESSION })], START)
    expect(entries.map(({ source }) => source)).toEqual(['start', 'run'])
  })

  it('shows its other fields after the message', async () => {
    const fields = {
      transport: 'webrtc',
      ms: 12,
      words: 'two words',
      list: [1, { a: 'b' }],
      none: null,
      left: undefined,
    }
    expect(await textOf(fields)).toBe(
      'hello transport=webrtc ms=12 words="two words" list=[1,{"a":"b"}] none=null',
    )
  })

  it('shows stacks and texts of many lines below it', async () => {
    const error = { message: 'no', stack: 'Error: no\n    at bot.ts:1\n' }
    expect(await textOf({ error, port: 7, body: 'a\nb' })).toBe(
      'hello port=7\n    Error: no\n        at bot.ts:1\n    body: a\n    b',
    )
    expect(await textOf({ error: { message: 'just this', stack: '' } })).toBe('hello\n    just this')
  })

  it('shows as much of a field as can be spelled, and goes on', async () => {
    const deep = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`)
    expect(await textOf({ deep, after: 1 })).toBe('hello deep=… after=1')
  })

  it('that cannot be shown at all does not take others with it', async () => {
    const broken = line()
    Object.defineProperty(broken, 'line', {
      get: () => ({ time: '', level: 'info', msg: { toString: 'nothing that we know' } }),
    })
    const texts = (await ingest()).records([broken, line()], RUN).map(({ text }) => text)
    expect(texts).toEqual(['A line of the log of this instance cannot be shown.', 'hello'])
  })

  it('cannot steer a terminal', async () => {
    expect(await textOf({ msg: '\u001b[31mred\u0007', 'a\u001b': 'b' })).toBe('\ufffd[31mred\ufffd a\ufffd=b')
  })

  it('has no session that is none, and the time of its reading if it says no other', async () => {
    const [entry] = (await ingest()).records([line({ sessionId: 'x', time: 'soon' })], RUN)
    expect(entry).toMatchObject({ sessionId: null, time: 5000 })
  })
})

it('what was lost is told', async () => {
  const records: JournalRecord[] = [{ type: 'lost', records: 12 }]
  const [entry] = (await ingest()).records(records, RUN)
  expect(entry).toMatchObject({
    level: 'warn',
    time: 5000,
    text: expect.stringMatching(/^12 records of this/),
  })
})

it('other output is a line an entry, without a level', async () => {
  const entries = (await ingest()).output(['Traceback:', '  File "bot.py"'], START)
  expect(entries.map(({ text, level, source, time }) => [text, level, source, time])).toEqual([
    ['Traceback:', null, 'start', 5000],
    ['  File "bot.py"', null, 'start', 5000],
  ])
})

describe('secrets', () => {
  it('are nowhere to be seen, in messages, fields, stacks and output', async () => {
    const secret = 'pa"ss-word-1'
    expect(
      await textOf({ msg: `key ${secret}!`, key: secret, url: encodeURIComponent(secret) }, secret),
    ).toBe('hello key ***! key="***" url="***"'.replace('hello ', ''))
    const error = { message: '', stack: `Error: ${secret}\n at x` }
    expect(await textOf({ error }, secret)).toBe('hello\n    Error: ***\n     at x')
    const redacting = await ingest(secret)
    expect(redacting.output([`a ${secret}`, 'b'], RUN).map(({ text }) => text)).toEqual(['a ***', 'b'])
  })

  it('that begin at the end of one entry do not hold it back', async () => {
    const redacting = await ingest('secret-value')
    expect(redacting.output(['my secret-', 'next'], RUN).map(({ text }) => text)).toEqual([
      'my secret-',
      'next',
    ])
  })
})

it('takes what the runner prints when it gives up for an error, with the traceback that follows', async () => {
  const lines = ['mybotcli: x', 'botcli: The bot could not be loaded: no', 'Traceback …', '  File "bot.py"']
  const entries = (await ingest()).output(lines, START)
  expect(entries.map(({ level }) => level)).toEqual([null, 'error', 'error', 'error'])
  const later = (await ingest()).output(['botcli: somebody calls us', 'and goes on'], RUN)
  expect(later.map(({ level }) => level)).toEqual(['error', null])
})
