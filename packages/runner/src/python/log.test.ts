import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LogLine } from '../testing/log-capture.ts'
import { PythonRunner } from '../testing/python-runner.ts'
import { until } from '../testing/runner-fixture.ts'
import { WebsocketClient } from '../testing/websocket-client.ts'

const BOT = `
import asyncio, logging, os, subprocess, sys, threading, time, warnings
from botcli import TransportParams, create_transport

print('imported')
logging.basicConfig(level=logging.INFO, format='%(levelname)s of %(name)s: %(message)s')

async def bot(args):
    transport = await create_transport(args, {'websocket': TransportParams})
    getattr(Acts, args.body['act'])(args.body.get('name'))
    transport.rtvi.server_message('done')
    await transport.wait_ended()
    print('has ended')

class Acts:
    def ways(_):
        print('by print')
        print('by print to stderr', file=sys.stderr)
        print('two\\nlines')
        sys.stdout.write('in '); sys.stdout.write('pieces\\n')
        os.write(1, b'by the system\\n')
        logging.getLogger('mine').info('by logging')
        warnings.warn('by warnings')
        thread = threading.Thread(target=print, args=('by a thread',)); thread.start(); thread.join()
        subprocess.run(['echo', 'by a program'])
        try:
            1 / 0
        except ZeroDivisionError:
            logging.exception('with its traceback')

    def signs(_):
        print('grüße, 日本語, 👋, \\u202e')
        print('half of one: \\ud83d')
        print('zero: \\0, bell: \\a, escape: \\x1b[31mred\\x1b[0m, return: a\\rb')
        os.write(1, b'no text: \\xff\\xfe\\n')

    def long(_):
        print('long ' + 'x' * 1_000_000)
        time.sleep(0.2)
        print('after it')

    def many(name):
        for number in range(100):
            print(name, number)

    def dies(_):
        sys.stdout.write('its last'); sys.stdout.flush()
        sys.stderr.write('words'); sys.stderr.flush()
        os._exit(3)

    def secret(_):
        print('Authorization: Bearer abcdefghijklmnopqrstuvwxyz0123456789')
`

describe.each(['fork', 'spawn'] as const)("a Python bot's log (%s)", (start) => {
  let bot: PythonRunner
  beforeAll(async () => {
    // The poorest of all locales.
    const env = { PATH: process.env.PATH ?? '', LC_ALL: 'C' }
    bot = await PythonRunner.start(BOT, { python: { start }, env })
  })
  afterAll(() => bot.close())

  /** Calls a bot that does this, and gives what the log says of it in the end. */
  async function linesOf(act: string, name = ''): Promise<readonly LogLine[]> {
    const { wsUrl, sessionId = '' } = await bot.runner.start({ transport: 'websocket', body: { act, name } })
    const client = await WebsocketClient.connect(`${wsUrl}?sessionId=${sessionId}`)
    await until(() => client.closed || client.messages.some(({ data }) => `${data}` === 'done'), 'the bot')
    client.close()
    await bot.runner.ended(sessionId)
    return bot.runner.log.lines.filter((line) => line.sessionId === sessionId && line.from === 'bot')
  }

  const texts = (lines: readonly LogLine[]) => lines.map(({ msg }) => msg)

  it('has its lines with the session, by whatever way they were written', async () => {
    const lines = await linesOf('ways')
    const level = (text: string) => lines.find(({ msg }) => msg === text)?.level
    for (const text of [
      'by print',
      'two',
      'lines',
      'in pieces',
      'by the system',
      'by a thread',
      'by a program',
    ]) {
      expect([text, level(text)]).toEqual([text, 'info'])
    }
    expect(level('by print to stderr')).toBe('warn')
    expect(level('INFO of mine: by logging')).toBe('warn')
    expect(level('has ended')).toBe('info')
    expect(texts(lines).join('\n')).toMatch(/bot\.py:\d+: UserWarning: by warnings/)
    expect(texts(lines).join('\n')).toMatch(
      /ERROR of root: with its traceback\nTraceback[\s\S]*bot\.py", line \d+, in ways[\s\S]*ZeroDivisionError/,
    )
  })

  it('has what it writes before there is a session without one', () => {
    const imported = bot.runner.log.lines.filter(({ msg }) => msg === 'imported')
    expect(imported.length).toBeGreaterThan(0)
    for (const line of imported) expect(line).not.toHaveProperty('sessionId')
  })

  it('has all signs as they are, or as something that can be read', async () => {
    const lines = texts(await linesOf('signs'))
    expect(lines).toContain('grüße, 日本語, 👋, \u202e')
    expect(lines).toContain('half of one: \\ud83d')
    expect(lines).toContain('no text: \ufffd\ufffd')
    expect(lines.some((line) => line.startsWith('zero: \0, bell: '))).toBe(true)
  })

  it('has the beginning of a line that is far too long', async () => {
    const lines = texts(await linesOf('long'))
    expect(lines[0]).toMatch(/^long x+$/)
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(8192)
    expect(lines).toContain('after it')
  })

  it('has the lines of each of many sessions in their order', async () => {
    const names = ['one', 'two', 'three', 'four']
    const all = await Promise.all(names.map((name) => linesOf('many', name)))
    for (const [index, lines] of all.entries()) {
      const expected = Array.from({ length: 100 }, (_, number) => `${names[index]} ${number}`)
      expect(texts(lines)).toEqual([...expected, 'has ended'])
    }
  })

  it('has the last words of a bot that dies, even if they are no whole line', async () => {
    const lines = texts(await linesOf('dies'))
    expect(lines).toContain('its last')
    expect(lines).toContain('words')
  })

  it('has no secrets', async () => {
    const lines = texts(await linesOf('secret'))
    expect(lines[0]).toContain('Authorization')
    expect(lines.join()).not.toContain('abcdefghijklmnopqrstuvwxyz')
  })
})
