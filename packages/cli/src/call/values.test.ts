import { MISBEHAVIOUR_NAMES } from '@botcli/media/phone'
import { describe, expect, it } from 'vitest'
import {
  lengthOfTime,
  misbehavioursHelp,
  parseJsonObject,
  parseKeys,
  parseMisbehaviour,
  parseNumber,
  parseParameter,
} from './values.ts'

describe('a length of time', () => {
  const parse = lengthOfTime(100, 3_600_000)

  it.each([
    ['500ms', 500],
    ['2s', 2000],
    ['2.5s', 2500],
    ['3', 3000],
    ['1m', 60_000],
    ['60m', 3_600_000],
  ])('%s', (text, ms) => {
    expect(parse(text)).toBe(ms)
  })

  it.each(['', '99ms', '61m', '2h', '-1', '1e3', '2 s'])('not %j', (text) => {
    expect(() => parse(text)).toThrow('must be from 100ms to 60m')
  })
})

describe('a misbehaviour', () => {
  it.each([
    ['jitter', { name: 'jitter', amount: 40 }],
    ['jitter=100', { name: 'jitter', amount: 100 }],
    ['jitter=100ms', { name: 'jitter', amount: 100 }],
    ['loss=2.5%', { name: 'loss', amount: 2.5 }],
    ['vanish=0s', { name: 'vanish', amount: 0 }],
    ['no-stop', { name: 'no-stop', amount: 1 }],
  ])('%s', (text, chosen) => {
    expect(parseMisbehaviour(text)).toEqual(chosen)
  })

  it.each([
    ['jiter', 'must be jitter, not "jiter"'],
    ['rude', 'must be one of jitter, loss,'],
    ['loss=101', 'loss must have a value from 0 to 100%, not "101"'],
    ['loss=5ms', 'not "5ms"'],
    ['loss=', 'not ""'],
    ['no-stop=1', 'no-stop takes no value'],
  ])('not %s', (text, why) => {
    expect(() => parseMisbehaviour(text)).toThrow(why)
  })

  it('is in the help, each on a line', () => {
    const lines = misbehavioursHelp().split('\n')
    expect(lines.map((line) => line.trim().split(/[ =]/)[0])).toEqual(MISBEHAVIOUR_NAMES)
  })
})

describe('other values', () => {
  it('are read', () => {
    expect(parseKeys('12*#a')).toBe('12*#A')
    expect(parseNumber('sip:bob@example.com')).toBe('sip:bob@example.com')
    expect(parseParameter('plan=a=b')).toEqual(['plan', 'a=b'])
    expect(parseParameter('empty=')).toEqual(['empty', ''])
    expect(parseJsonObject('{"a":[1]}')).toEqual({ a: [1] })
  })

  it('are refused with what is allowed', () => {
    expect(() => parseKeys('12x')).toThrow('0-9, A-D, * and #')
    expect(() => parseKeys('')).toThrow('1 to 64 keys')
    expect(() => parseNumber('a b')).toThrow('+15550100')
    expect(() => parseParameter('plan')).toThrow('NAME=VALUE')
    for (const text of ['[]', '1', 'null', '{', ''])
      expect(() => parseJsonObject(text)).toThrow('JSON object')
  })
})
