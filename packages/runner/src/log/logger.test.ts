import { describe, expect, it } from 'vitest'
import { createLogger, type LoggerOptions } from './logger.ts'
import { createRedactor } from './redact.ts'

const TIME = new Date('2026-01-02T03:04:05.678Z')

function recorded(options: Partial<LoggerOptions> & { isTTY?: boolean; writableLength?: number } = {}) {
  const lines: string[] = []
  const stream = {
    isTTY: options.isTTY ?? false,
    writableLength: options.writableLength ?? 0,
    write: (text: string) => lines.push(text),
  }
  const logger = createLogger({ stream, clock: () => TIME, ...options })
  return { lines, logger, stream }
}

describe('into a pipe', () => {
  it('writes one JSON object a line, the own keys first and safe from fields of the same name', () => {
    const { lines, logger } = recorded()
    logger.child({ sessionId: 's1' }).info('hello', { port: 1, level: 'fake', msg: 'fake' })
    expect(lines).toEqual([
      '{"time":"2026-01-02T03:04:05.678Z","level":"info","msg":"hello","sessionId":"s1","port":1}\n',
    ])
  })

  it('keeps a message with line breaks on one line', () => {
    const { lines, logger } = recorded()
    logger.error('a\nb', { error: new Error('c\nd') })
    expect(lines.join('').trimEnd().split('\n')).toHaveLength(1)
  })
})

describe('on a terminal', () => {
  it('writes time, level, short session id, message and fields', () => {
    const { lines, logger } = recorded({ isTTY: true, color: false })
    logger
      .child({ sessionId: '0123456789abcdef' })
      .warn('slow', { ms: 12, why: 'two words', none: undefined })
    const time = TIME.toTimeString().slice(0, 8)
    expect(lines).toEqual([`${time} warn  01234567 slow ms=12 why="two words"\n`])
  })

  it('puts stacks and excerpts below, indented', () => {
    const { lines, logger } = recorded({ isTTY: true, color: false })
    logger.error('bot failed\nat line 2', {
      error: { name: 'E', message: 'no', stack: 'E: no\n    at bot.ts:3:1' },
    })
    expect(lines[0]).toMatch(/error bot failed\n {4}at line 2\n {4}E: no\n {8}at bot\.ts:3:1\n$/)
  })

  it('has colours, unless NO_COLOR asks for none', () => {
    const coloured = recorded({ isTTY: true })
    coloured.logger.info('x')
    expect(coloured.lines[0]).toContain('\u001b[36m')
    const plain = recorded({ isTTY: true, env: { NO_COLOR: '1' } })
    plain.logger.info('x')
    expect(plain.lines[0]).not.toContain('\u001b')
  })

  it('lets nobody steer the terminal', () => {
    const { lines, logger } = recorded({ isTTY: true, color: false })
    logger.info('\u001b[2Jgone\u0007', { agent: '\u001b]0;title\u0007' })
    expect(lines[0]).not.toContain('\u001b')
    expect(lines[0]).not.toContain('\u0007')
  })
})

it('shows debug lines only when asked', () => {
  const quiet = recorded()
  quiet.logger.debug('x')
  expect(quiet.lines).toEqual([])
  const loud = recorded({ verbose: true })
  loud.logger.debug('x')
  expect(loud.lines).toHaveLength(1)
})

it('hides secrets in messages and in fields', () => {
  const { lines, logger } = recorded({ redactor: createRedactor(['hunter2hunter2']) })
  logger.info('key hunter2hunter2', { a: { b: 'hunter2hunter2' }, authorization: 'abc' })
  expect(lines.join('')).not.toMatch(/hunter2|abc/)
})

it('drops lines when nobody reads, and says how many once somebody does', () => {
  const { lines, logger, stream } = recorded({ writableLength: 2_000_000 })
  logger.info('one')
  logger.info('two')
  stream.writableLength = 0
  logger.info('three')
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ level: 'warn', lost: 2 }, { msg: 'three' }])
})
