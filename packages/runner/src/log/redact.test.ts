import { describe, expect, it } from 'vitest'
import { Excerpt } from './excerpt.ts'
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
    ['{"From": "(415) 555-2671"}', '{"From": "4155•••71"}'],
    ['{"phone":14155552671,"a":1}', '{"phone":"1415•••71","a":1}'],
    ['{"mobile":"415-555-2671"}', '{"mobile":"4155•••71"}'],
    ['{"caller_id":"0041 79 123 45 67"}', '{"caller_id":"0041•••67"}'],
    ['{"to":["14155552671","+4915112345678"]}', '{"to":["1415•••71","+4915•••78"]}'],
    ['{"\\u0066rom":"14155552671"}', '{"\\u0066rom":"1415•••71"}'],
    ['{"a":{"phone":"14155552671', '{"a":{"phone":"1415•••71'],
    ["{'From': '(415) 555-2671'}", "{'From': '4155•••71'}"],
    ["{'token': 'abc', 'a': 1}", "{'token': '[redacted]', 'a': 1}"],
    ["{'room_api_key': \"it's\"}", '{\'room_api_key\': "[redacted]"}'],
    [`Args(token='a\\'b', from_number="15551234567")`, `Args(token='[redacted]', from_number="1555•••67")`],
    ["name='abc', x=token", "name='abc', x=token"],
    ['From=14155552671&To=%28415%29+555-2671', 'From=1415•••71&To=4155•••71'],
    ['From=(415) 555-2671&To=1', 'From=4155•••71&To=1'],
    ['call from (415) 555-2671 or 415-555-2671 ended', 'call from 4155•••71 or 4155•••71 ended'],
    ['{"password":12345,"pin_secret":"a"}', '{"password":"[redacted]","pin_secret":"[redacted]"}'],
    ['{"credentials":["abc"]}', '{"credentials":["[redacted]"]}'],
    ['GET /x?%74oken=SECRET&a=1', 'GET /x?%74oken=[redacted]&a=1'],
    ['auth[api%5Fkey]=SECRET', 'auth[api%5Fkey]=[redacted]'],
    ['sdp=v%3D0%0D%0A&x=1', 'sdp=SDP, 5 bytes&x=1'],
    ['a 5" nail\nand token=abc\nend', 'a 5" nail\nand token=[redacted]\nend'],
    [`before ${SDP}after`, `before SDP, ${SDP.length} bytesafter`],
  ])('%s', (given, expected) => {
    expect(text(given)).toBe(expected)
  })

  it('hides an SDP inside JSON, and also when the JSON was cut off', () => {
    const body = JSON.stringify({ type: 'offer', sdp: SDP, pc_id: 'x' })
    expect(text(body)).toMatch(/^\{"type":"offer","sdp":"SDP, \d+ bytes","pc_id":"x"\}$/)
    expect(text(body.slice(0, 90))).not.toContain('127.0.0.1')
  })

  const FRAGMENT = [
    'c=IN IP4 203.0.113.7',
    'a=ice-ufrag:UfragUfrag',
    'a=ice-pwd:PwdPwdPwdPwd',
    'a=fingerprint:sha-256 AA:BB:CC',
    'a=candidate:1 1 udp 2130706431 192.168.1.44 50000 typ host',
    'm=audio 9 UDP/TLS/RTP/SAVPF 111',
  ]

  it.each([
    ['raw', FRAGMENT.join('\r\n')],
    ['in JSON', JSON.stringify({ offer: FRAGMENT.join('\r\n') })],
    ['in JSON in JSON', JSON.stringify(JSON.stringify({ offer: FRAGMENT.join('\n') }))],
    ['escaped by number', `{"offer":"${FRAGMENT.join('\\u000d\\u000a')}"}`],
    ['escaped by number, and not in quotes', FRAGMENT.join('\\u000D\\u000A')],
    [
      'whole and escaped by number',
      `{"x":"v=0\\u000d\\u000ao=- 1 2 IN IP4 203.0.113.7\\u000d\\u000a${FRAGMENT[2]}"}`,
    ],
    ['as a candidate alone', JSON.stringify({ candidate: FRAGMENT[4]?.slice(2) })],
  ])('hides what tells something in a piece of SDP: %s', (_, given) => {
    expect(text(given)).not.toMatch(/203\.0|Ufrag|PwdPwd|AA:BB|192\.168/)
  })

  it('cuts after it has cleaned, so that half a secret does not stay', () => {
    const secret = 'hunter2-'.repeat(40)
    const known = createRedactor([secret])
    for (const before of [16_000, 16_300, 16_384, 16_500]) {
      const long = `${'a'.repeat(before)} ${secret} ${'b'.repeat(9000)}`
      expect(known.text(long)).not.toContain('hunter2')
    }
  })

  it('comes to the end of hostile text', () => {
    for (const piece of ['"', '\\"', '{"a":', '%74', 'token', 'a=', '+1 ', '(1', '"to":"1', '[', 'v=0\\n']) {
      expect(text(piece.repeat(20_000 / piece.length)).length).toBeLessThan(20_000)
    }
  })

  it.each([
    '{"port":14155552671,"sessionId":"12345678901","id":14155552671}',
    '{"from":1719900000,"to":1719990000,"at":1719900000123}',
    '{"from":1719900000123,"to":"2026-01-02"}',
    '{"number":12345678, "to": 8080}',
    'GET /history?from=1719900000&to=1719990000&port=14155552671',
    '{"id":12345678901234567890,"x":1.0,  "deep":[[[[[[[[1]]]]]]]]}',
    'Error: 192-168-1001 at node:crypto:123 fingerprint: none',
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

  it('masks phone numbers that are numbers, and leaves other numbers alone', () => {
    const given = { phone: 14155552671, from: 14155552671, at: 14155552671, to: 1719900000, port: 7860 }
    expect(value('body', given)).toEqual({ ...given, phone: '1415•••71', from: '1415•••71' })
  })

  it('cuts an excerpt after it was cleaned', () => {
    const body = JSON.stringify({ a: 'x'.repeat(20), token: 'SECRETSECRET', b: 'y'.repeat(50) })
    const shown = value('body', new Excerpt(body, 45))
    expect(shown).toHaveLength(45)
    expect(shown).not.toContain('SECRET')
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
