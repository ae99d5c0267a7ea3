import { describe, expect, it } from 'vitest'
import { optionsHelp } from './help.ts'
import { flag, optional, repeatable, toggle, ValueError, valued } from './option.ts'
import { parseOptions } from './parse.ts'

function digits(text: string): number {
  if (/^\d+$/.test(text)) return Number(text)
  throw new ValueError(`must be digits, not "${text}".`)
}

const TABLE = {
  size: valued({ name: 'size', short: 's', argument: 'N', default: '7', help: 'How big.', parse: digits }),
  limit: optional({ name: 'limit', argument: 'N', help: 'How much.', parse: digits }),
  tags: repeatable({ name: 'tag', argument: 'TAGS', help: 'Names.', parse: (text) => text.split(',') }),
  loud: flag({ name: 'loud', short: 'l', help: 'Say more.' }),
  quick: flag({ name: 'quick', short: 'q', help: 'Say less.' }),
}

describe('what is right', () => {
  it('gives defaults when nothing is given', () => {
    const { values, given, problems } = parseOptions([], TABLE)
    expect(values).toEqual({ size: 7, limit: undefined, tags: undefined, loud: false, quick: false })
    expect(given.size).toBe(0)
    expect(problems).toEqual([])
  })

  it('reads long, short, joined and repeated options, and arguments between them', () => {
    const argv = ['a', '-lq', '-s', '3', '--limit=5', '--tag', 'x,y', 'b', '--tag=z', '--', '--loud']
    const parsed = parseOptions(argv, TABLE)
    expect(parsed.problems).toEqual([])
    expect(parsed.values).toEqual({ size: 3, limit: 5, tags: ['x', 'y', 'z'], loud: true, quick: true })
    expect(parsed.positionals).toEqual(['a', 'b', '--loud'])
    expect([...parsed.given]).toEqual(['size', 'limit', 'tags', 'loud', 'quick'])
  })

  it('keeps the order of options among each other', () => {
    const { sequence } = parseOptions(['--tag', 'a', '-s', '3', '--tag=b', '-l', '--limit', '--loud'], TABLE)
    expect(sequence).toEqual(['tags', 'size', 'tags', 'loud'])
  })

  it('takes a switch twice as once', () => {
    expect(parseOptions(['-l', '-l'], TABLE)).toMatchObject({ problems: [], values: { loud: true } })
  })

  it.each([['-h'], ['--help'], ['-lh']])('hears %s', (arg) => {
    expect(parseOptions([arg], TABLE).helpWanted).toBe(true)
  })
})

describe('what is wrong', () => {
  it.each([
    [['--siez', '3'], 'Unknown option --siez. Did you mean --size?'],
    [['--banana'], 'Unknown option --banana.'],
    [['-z'], 'Unknown option -z.'],
    [['--size', 'big'], '-s/--size must be digits, not "big".'],
    [['--size='], '-s/--size must be digits, not "".'],
    [['--size'], '-s/--size needs a value: N.'],
    [['--size', '--loud'], '-s/--size needs a value: N.'],
    [['--size', '1', '-s', '2'], '-s/--size was given 2 times (1, 2); it takes one value.'],
    [['--loud=no'], '-l/--loud takes no value.'],
    [['--no-loud'], 'Unknown option --no-loud.'],
  ])('%j', (argv, problem) => {
    expect(parseOptions(argv, TABLE).problems).toEqual([problem])
  })

  it('is told all at once', () => {
    const { problems, positionals } = parseOptions(['--banana', 'x', '--size', 'a', '--limit', 'b'], TABLE)
    expect(problems).toHaveLength(3)
    expect(positionals).toEqual([])
  })
})

it('makes the help of the same table', () => {
  const lines = optionsHelp(TABLE).split('\n')
  expect(lines[0]).toMatch(/^ {2}-s, --size N +How big\. \[default: 7\]$/)
  expect(lines[2]).toMatch(/^ {6}--tag TAGS +Names\. Can be repeated\.$/)
  expect(lines.at(-1)).toMatch(/-h, --help/)
})

describe('switches with a no- in front of them', () => {
  const SWITCHES = { music: toggle({ name: 'music', default: 'on', help: 'Play.' }) }

  it.each([
    [[], undefined],
    [['--music'], true],
    [['--no-music'], false],
    [['--no-music', '--no-music'], false],
  ])('%j is %s', (argv, value) => {
    const parsed = parseOptions(argv, SWITCHES)
    expect(parsed.values.music).toBe(value)
    expect(parsed.given.has('music')).toBe(argv.length > 0)
    expect(parsed.problems).toEqual([])
  })

  it.each([
    [['--music', '--no-music'], '--music and --no-music cannot both be given.'],
    [['--no-music=yes'], '--no-music takes no value.'],
    [['--no-musik'], 'Unknown option --no-musik. Did you mean --no-music?'],
  ])('%j is refused', (argv, problem) => {
    expect(parseOptions(argv, SWITCHES).problems).toEqual([problem])
  })

  it('are one line of help', () => {
    expect(optionsHelp(SWITCHES)).toContain('--[no-]music')
  })
})
