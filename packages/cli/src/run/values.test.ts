import { describe, expect, it } from 'vitest'
import { ValueError } from '../options/option.ts'
import {
  isLoopback,
  isUnspecified,
  parseAnnouncedAddress,
  parseDuration,
  parseHost,
  parseMemory,
  parseOrigins,
  parsePorts,
  parseProxy,
  wholeNumber,
} from './values.ts'

const cases = <T>(parse: (text: string) => T, right: readonly [string, T][], wrong: readonly string[]) => {
  it.each(right)('takes %j', (text, expected) => {
    expect(parse(text)).toEqual(expected)
  })
  it.each(wrong)('refuses %j', (text) => {
    expect(() => parse(text)).toThrow(ValueError)
  })
}

describe('a whole number', () => {
  cases(
    wholeNumber(0, 65535),
    [
      ['0', 0],
      ['7860', 7860],
      ['65535', 65535],
    ],
    ['', '-1', '65536', '80.5', '0x50', '1e3', ' 80', 'http', '99999999999'],
  )
})

describe('a host', () => {
  cases(
    parseHost,
    [
      ['localhost', 'localhost'],
      ['0.0.0.0', '0.0.0.0'],
      ['::1', '::1'],
      ['[::1]', '::1'],
      ['my-box.local', 'my-box.local'],
      ['runner_1', 'runner_1'],
    ],
    [
      '',
      '1.2.3',
      '300.1.1.1',
      'a b',
      'http://localhost',
      'localhost:80',
      '-a',
      'a..b',
      'a/b',
      '[localhost',
      '*',
    ],
  )
})

describe('an announced address', () => {
  cases(
    parseAnnouncedAddress,
    [
      ['203.0.113.9', '203.0.113.9'],
      ['bot.example.com', 'bot.example.com'],
    ],
    ['', '0.0.0.0', '::', 'a b', '1.2.3.4:80'],
  )
})

describe('a proxy', () => {
  cases(
    parseProxy,
    [
      ['my.example.com', 'my.example.com'],
      ['https://my.example.com', 'my.example.com'],
      ['HTTP://my.example.com/', 'my.example.com'],
      ['my.example.com:8443', 'my.example.com:8443'],
      ['[::1]:80', '[::1]:80'],
    ],
    [
      '',
      'https://',
      'wss://my.example.com',
      'my.example.com/path',
      'a b',
      'my.example.com:0',
      'my.example.com:99999',
      'my.example.com?x=1',
      'user@my.example.com',
    ],
  )
})

describe('origins', () => {
  cases(
    parseOrigins,
    [
      ['', []],
      ['https://a.example.com', ['https://a.example.com']],
      ['https://A.example.com:443/', ['https://a.example.com']],
      ['http://localhost:3000, https://b.example.com,', ['http://localhost:3000', 'https://b.example.com']],
      ['capacitor://localhost', ['capacitor://localhost']],
    ],
    [
      '*',
      'a.example.com',
      'https://*.example.com',
      'https://a.example.com/path',
      'https://a.example.com?x',
      'https://u:p@a.example.com',
      'wss://a.example.com',
      'null',
      ',',
      'https://',
      'https:///x',
      'http://localhost:99999',
      'https://a.example.com,b',
    ],
  )
})

describe('a duration', () => {
  cases(
    parseDuration,
    [
      ['30s', 30_000],
      ['10m', 600_000],
      ['2h', 7_200_000],
      ['1h30m', 5_400_000],
      ['90', 90_000],
    ],
    ['', '0', '0s', '-5', '5d', '25h', '1.5h', 's', '10 m', 'm10'],
  )
})

describe('a size of memory', () => {
  cases(
    parseMemory,
    [
      ['512m', 512 * 1024 ** 2],
      ['2g', 2 * 1024 ** 3],
      ['2GB', 2 * 1024 ** 3],
    ],
    ['', '0', '512', '1m', '2t', '-2g', '9999g'],
  )
})

describe('ports', () => {
  cases(
    parsePorts,
    [
      ['50000', { first: 50000, last: 50000 }],
      ['50000-50010', { first: 50000, last: 50010 }],
    ],
    ['', '0', '65536', '10-5', '1-', '-5', '1-2-3', 'a'],
  )
})

it('knows which addresses are everywhere and which are here', () => {
  expect(
    ['0.0.0.0', '::', '0:0:0:0:0:0:0:0', '127.0.0.1', 'localhost', '10.0.0.0'].map(isUnspecified),
  ).toEqual([true, true, true, false, false, false])
  expect(['localhost', '127.0.0.2', '::1', '0.0.0.0', '192.168.0.1', 'box.local'].map(isLoopback)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ])
})
