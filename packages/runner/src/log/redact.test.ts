import { describe, expect, it } from 'vitest'
import { createRedactor, secretsOf } from './redact.ts'

const SDP =
  'v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\na=ice-pwd:abcdefghijklmnop\r\na=fingerprint:sha-256 AA:BB\r\n'
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc_DEF-123'

describe('text', () => {
  const { text } = createRedactor()

  it.each([
    ['Authorization: Bearer abcdef1234567890', 'Authorization: Bearer [redacted]'],
    ['GET /ws-client?token=abc123&x=1', 'GET /ws-client?token=[redacted]&x=1'],
    ['GET /ws-client?access_token=abc123', 'GET /ws-client?access_token=[redacted]'],
    ['api_key=abc123 next', 'api_key=[redacted] next'],
    ['key sk-proj-abcdefghijkl1234 was refused', 'key sk-[redacted] was refused'],
    ['call from +4915112345678 ended', 'call from +4915•••78 ended'],
    ['call from +1 (555) 123-4567 ended', 'call from +1555•••67 ended'],
    ['From=%2B4915112345678&To=1', 'From=+4915•••78&To=1'],
    [`a ${JWT} b`, 'a [redacted] b'],
    ['{"token": "abc", "a": 1}', '{"token": "[redacted]", "a": 1}'],
    ['{"roomToken":"abc\\"def","a":1}', '{"roomToken":"[redacted]","a":1}'],
    ['"{\\"token\\":\\"abc\\",\\"a\\":1}"', '"{\\"token\\":\\"[redacted]\\",\\"a\\":1}"'],
    ['{"from":"15551234567"}', '{"from":"1555•••67"}'],
    [`before ${SDP}after`, `before SDP, ${SDP.length} bytesafter`],
  ])('%s', (given, expected) => {
    expect(text(given)).toBe(expected)
  })

  it('hides an SDP inside JSON, and also when the JSON was cut off', () => {
    const body = JSON.stringify({ type: 'offer', sdp: SDP, pc_id: 'x' })
    expect(text(body)).toMatch(/^\{"type":"offer","sdp":"SDP, \d+ bytes","pc_id":"x"\}$/)
    expect(text(body.slice(0, 90))).not.toContain('127.0.0.1')
  })

  it.each([
    'listening on http://localhost:7860',
    'took 1234567890 ms at 2026-01-02T03:04:05.678+00:00',
    'the token is missing',
    'session 0b5f8d4e-3f1c-4f6e-9d0a-112233445566 ended',
    'version=0 of the key=value pairs',
  ])('leaves alone: %s', (given) => {
    expect(text(given)).toBe(given)
  })

  it('cuts very long text and says how long it was', () => {
    const result = text('a'.repeat(100_000))
    expect(result.length).toBeLessThan(20_000)
    expect(result).toContain('100000 characters')
  })
})

describe('value', () => {
  const { value } = createRedactor()

  it('hides by field name, at any depth', () => {
    const given = {
      headers: { Authorization: 'x', Cookie: 'y' },
      apiKey: 'k',
      api_key: 'k',
      token: '',
      tokens: 12,
      sdp: 'v=0',
      list: [{ password: 'p' }],
    }
    expect(value('request', given)).toEqual({
      headers: { Authorization: '[redacted]', Cookie: '[redacted]' },
      apiKey: '[redacted]',
      api_key: '[redacted]',
      token: '',
      tokens: 12,
      sdp: 'SDP, 3 bytes',
      list: [{ password: '[redacted]' }],
    })
  })

  it('masks phone numbers without a plus only in fields that hold them', () => {
    expect(value('from', '15551234567')).toBe('1555•••67')
    expect(value('callerPhone', '+15551234567')).toBe('+1555•••67')
    expect(value('samples', '15551234567')).toBe('15551234567')
  })

  it('makes plain JSON of everything, also of what JSON cannot hold', () => {
    const loop: Record<string, unknown> = { big: 5n, fn: () => {}, bytes: new Uint8Array(3) }
    loop.self = loop
    const result = value('x', loop)
    expect(() => JSON.stringify(result)).not.toThrow()
    expect(result).toMatchObject({ big: '5', fn: '[function]', bytes: '[3 bytes]' })
  })

  it('cleans messages and stacks of errors', () => {
    expect(value('error', new Error('token=abc'))).toMatchObject({ message: 'token=[redacted]' })
    expect(JSON.stringify(value('error', new Error('token=abc')))).not.toContain('abc')
  })
})

describe('known secrets', () => {
  it('are taken from the environment by the names of variables', () => {
    const env = {
      OPENAI_API_KEY: 'hunter2hunter2',
      DB_PASSWORD: 'short',
      HOME: '/home/somebody',
      X_TOKEN: undefined,
    }
    expect(secretsOf(env)).toEqual(['hunter2hunter2'])
  })

  it('are hidden wherever they occur, as they are, in JSON and in a URL', () => {
    const secret = 'p"ss wörd/+$1'
    const { text, value } = createRedactor([secret, 'p"ss wör'])
    const seen = `${secret} ${JSON.stringify({ a: secret })} ?q=${encodeURIComponent(secret)}`
    expect(text(seen)).toBe('[redacted] {"a":"[redacted]"} ?q=[redacted]')
    expect(value('anything', { deep: [secret] })).toEqual({ deep: ['[redacted]'] })
  })

  it('ignores values that are too short to be told from ordinary text', () => {
    expect(createRedactor(['true', '']).text('true story')).toBe('true story')
  })
})
