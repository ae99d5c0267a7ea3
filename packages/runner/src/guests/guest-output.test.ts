import { PassThrough } from 'node:stream'
import { reportLine } from '@botcli/protocol'
import { describe, expect, it } from 'vitest'
import { LogCapture } from '../testing/log-capture.ts'
import { GuestOutput } from './guest-output.ts'

/** What is in the log after a bot wrote these pieces to its standard error. */
async function logged(...pieces: readonly string[]): Promise<readonly (readonly [unknown, unknown])[]> {
  const log = new LogCapture()
  const stderr = new PassThrough()
  new GuestOutput(log.logger, new PassThrough(), stderr)
  for (const piece of pieces) {
    stderr.write(piece)
    await new Promise((resolve) => setImmediate(resolve))
  }
  stderr.end()
  await new Promise((resolve) => stderr.once('close', resolve))
  return log.lines.map(({ level, msg }) => [level, msg])
}

const TRACEBACK = ['Traceback (most recent call last):', '  File "bot.py", line 4, in bot', 'ValueError: no']

describe('what a bot writes', () => {
  it('is one record with its traceback, line by line or at once', async () => {
    const head = '2026-11-16 05:38:13.032 | ERROR    | bot:bot:4 - it broke'
    const record = [['error', ['bot:bot:4 - it broke', ...TRACEBACK].join('\n')]]
    expect(await logged([head, ...TRACEBACK, ''].join('\n'))).toEqual(record)
    expect(await logged(...[head, ...TRACEBACK].map((line) => `${line}\n`))).toEqual(record)
  })

  it('is a traceback of its own after what is not shown, with those that it is chained to', async () => {
    const chained = [
      ...TRACEBACK,
      '',
      'During handling of the above exception, another exception occurred:',
      '',
      ...TRACEBACK,
    ]
    expect(await logged('DEBUG:root:thinking\n', `${chained.join('\n')}\n`, 'plain words\n')).toEqual([
      ['debug', 'root:thinking'],
      ['warn', chained.join('\n')],
      ['warn', 'plain words'],
    ])
  })

  it('is one message in several lines only when it was written at once', async () => {
    expect(await logged('INFO:root:two\nlines\n', 'and one more\n')).toEqual([
      ['info', 'root:two\nlines'],
      ['warn', 'and one more'],
    ])
    expect(await logged('DEBUG:root:hidden\nshown\n')).toEqual([
      ['debug', 'root:hidden'],
      ['warn', 'shown'],
    ])
  })

  it('is told apart from a report, also behind a line that has no end', async () => {
    const report = reportLine({ type: 'blocked', ms: 2000, over: true, at: 'bot.py:3' })
    expect(await logged(`50 %${report}and on\n`)).toEqual([
      ['warn', '50 %'],
      ['warn', "the bot's event loop was blocked for 2.0 s at bot.py:3"],
      ['warn', 'and on'],
    ])
  })

  it('has no colours', async () => {
    expect(await logged('\u001b[31mred\u001b[0m\n')).toEqual([['warn', 'red']])
  })
})
