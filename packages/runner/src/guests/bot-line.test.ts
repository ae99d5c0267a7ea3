import { describe, expect, it } from 'vitest'
import { parseBotLine } from './bot-line.ts'

describe('a line of a bot', () => {
  it.each([
    [
      '2026-11-16 05:38:13.032 | DEBUG    | pipecat.pipeline.worker:run:909 - It is finishing...',
      { level: 'debug', text: 'pipecat.pipeline.worker:run:909 - It is finishing...' },
    ],
    ['2026-11-16 05:38:13.032 | SUCCESS  | bot:bot:3 - done', { level: 'info', text: 'bot:bot:3 - done' }],
    ['2026-11-16 05:38:13.032 | CRITICAL | bot:bot:3 - no', { level: 'error', text: 'bot:bot:3 - no' }],
    ['2026-11-16 06:56:19,271 ERROR root it broke', { level: 'error', text: 'root it broke' }],
    [
      '2026-11-16 06:56:19,271 - my.module - INFO - hello',
      { level: 'info', text: 'my.module - INFO - hello' },
    ],
    ['[2026-11-16T06:56:19Z] [WARNING] careful', { level: 'warn', text: 'careful' }],
    ['WARNING:root:careful', { level: 'warn', text: 'root:careful' }],
    ['ERROR:my.module:it broke', { level: 'error', text: 'my.module:it broke' }],
  ])('has the level that its log library gave it: %s', (line, expected) => {
    expect(parseBotLine(line)).toEqual(expected)
  })

  it.each([
    'Traceback (most recent call last):',
    'ERROR: it broke',
    'INFO',
    '',
    '2026-11-16 06:56:19 an ERROR',
  ])('tells no level: %s', (line) => {
    expect(parseBotLine(line)).toBeUndefined()
  })
})
