import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RunnerError } from '../errors.ts'
import type { WebhookRequest } from '../providers/webhook-request.ts'
import { refusalOf } from '../testing/refusal.ts'
import { escapeXml } from './call-answer.ts'
import { CarrierWebhook } from './carrier-webhook.ts'

const URL_ = 'https://bots.example.com/'
const PLAN = { wsUrl: () => 'wss://bots.example.com/ws' }
const NOW = Date.UTC(2030, 0, 1)
const FORM = 'From=%2B15550001111&To=%2B15550002222&CallSid=CA1'

function request(headers: Record<string, string> = {}, body = FORM, url = URL_): WebhookRequest {
  return { url, header: (name) => headers[name.toLowerCase()], body: Buffer.from(body) }
}

describe('the answer', () => {
  const webhook = new CarrierWebhook({})
  const HEAD = '<?xml version="1.0" encoding="UTF-8"?>'

  it('of provider A streams the call, with its numbers', () => {
    const { contentType, body } = webhook.answer('telephony_a', request(), PLAN)
    expect(contentType).toBe('application/xml')
    expect(body).toBe(
      `${HEAD}<Response><Connect><Stream url="wss://bots.example.com/ws"><Parameter name="from_number" value="+15550001111"/><Parameter name="to_number" value="+15550002222"/></Stream></Connect></Response>`,
    )
  })

  it('of provider B asks for one codec both ways', () => {
    const { body } = webhook.answer('telephony_b', request({}, ''), PLAN)
    expect(body).toBe(
      `${HEAD}<Response><Connect><Stream url="wss://bots.example.com/ws" codec="PCMU" bidirectionalMode="rtp" bidirectionalCodec="PCMU"></Stream></Connect></Response>`,
    )
  })

  it('of provider C has the address as text, and what fits into its headers', () => {
    const parameters = {
      session: '0c9f-1',
      'bad name': 'x',
      list: 'a,b=c',
      long: 'x'.repeat(600),
      last: 'yes',
    }
    const { body } = webhook.answer('telephony_c', request(), { ...PLAN, parameters })
    expect(body).toBe(
      `${HEAD}<Response><Stream bidirectional="true" keepCallAlive="true" contentType="audio/x-mulaw;rate=8000" extraHeaders="from_number=15550001111,to_number=15550002222,session=0c9f-1,last=yes">wss://bots.example.com/ws</Stream></Response>`,
    )
  })

  it('of provider D is the address as JSON', () => {
    expect(webhook.answer('telephony_d', request(), PLAN)).toEqual({
      contentType: 'application/json',
      body: '{"url":"wss://bots.example.com/ws"}',
    })
  })

  it('is not there for what is no carrier', () => {
    expect(refusalOf(() => webhook.answer('webrtc', request(), PLAN)).status).toBe(404)
  })

  it('is well-formed whatever the carrier and the caller say', () => {
    const text = fc.string({ unit: 'binary', maxLength: 40 })
    fc.assert(
      fc.property(text, text, text, (from, name, value) => {
        const body = new URLSearchParams({ From: from }).toString()
        const plan = { wsUrl: () => `wss://x/ws?a=${value}`, parameters: { [name]: value } }
        for (const transport of ['telephony_a', 'telephony_b', 'telephony_c'] as const) {
          const answer = webhook.answer(transport, request({}, body), plan).body
          const inner = answer.slice(HEAD.length)
          expect(inner.replace(/<\/?\w+(?: \w+="[^"<>]*")*\/?>/g, '')).not.toMatch(/[<>"]/)
          expect(inner).not.toMatch(/&(?!#\d{1,3};)/)
          // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
          expect(inner).not.toMatch(/[\u0000-\u001f\ufffe\uffff]/)
        }
      }),
    )
  })

  it('escapes what could end a value', () => {
    expect(escapeXml(`<a href="x">&'\n\u0000\ud800`)).toBe('&#60;a href=&#34;x&#34;&#62;&#38;&#39;&#10;')
  })
})

describe('the signature of provider A', () => {
  // The example in the provider's own documentation.
  const token = '12345'
  const webhook = new CarrierWebhook({ a: { authToken: token } })
  const url = 'https://example.com/myapp.php?foo=1&bar=2'
  const form =
    'Digits=1234&To=%2B18005551212&From=%2B14158675310&Caller=%2B14158675310&CallSid=CA1234567890ABCDE'
  const good = { 'x-twilio-signature': 'L/OH5YylLD5NRKLltdqwSvS0BnU=' }
  const signed = (text: string) => ({
    'x-twilio-signature': createHmac('sha1', token).update(text).digest('base64'),
  })

  it('is accepted as documented', () => {
    expect(webhook.answer('telephony_a', request(good, form, url), PLAN).body).toContain('+14158675310')
  })

  it('may cover other spellings of the same address', () => {
    for (const text of ['https://bots.example.com', 'https://bots.example.com:443/', URL_]) {
      expect(webhook.answer('telephony_a', request(signed(text), ''), PLAN).body).toContain('<Stream')
    }
    const withPort = 'https://bots.example.com:8443/'
    expect(webhook.answer('telephony_a', request(signed(URL_), '', withPort), PLAN).body).toContain('<Stream')
  })

  it.each([
    ['missing', {}, form, url],
    ['empty', { 'x-twilio-signature': '' }, form, url],
    ['of another body', good, `${form}&Digits=9`, url],
    ['of another address', good, form, 'https://example.com/myapp.php?foo=1&bar=3'],
    ['of another host', good, form, 'https://example.org/myapp.php?foo=1&bar=2'],
  ])('is refused with 403 when %s', (_, headers, body, at) => {
    const error = refusalOf(() => webhook.answer('telephony_a', request(headers, body, at), PLAN))
    expect(error).toMatchObject({ code: 'sender_not_verified', status: 403 })
    expect(error.message).not.toContain(token)
  })

  it('is asked of provider A only', () => {
    expect(webhook.answer('telephony_b', request(), PLAN).body).toContain('<Stream')
  })
})

describe('the signature of provider B', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64')
  const webhook = new CarrierWebhook({ b: { publicKey: raw } }, () => NOW)
  const signed = (body: string, time = NOW / 1000) => ({
    'telnyx-timestamp': String(time),
    'telnyx-signature-ed25519': sign(null, Buffer.from(`${time}|${body}`), privateKey).toString('base64'),
  })

  it('is accepted', () => {
    expect(webhook.answer('telephony_b', request(signed(FORM)), PLAN).body).toContain('<Stream')
  })

  it.each([
    ['missing', {}],
    ['of another body', signed('From=1')],
    ['too old', signed(FORM, NOW / 1000 - 301)],
    ['from the future', signed(FORM, NOW / 1000 + 301)],
    ['of another time', { ...signed(FORM), 'telnyx-timestamp': String(NOW / 1000 + 1) }],
    ['without a time', { ...signed(FORM), 'telnyx-timestamp': 'soon' }],
    ['not base64', { ...signed(FORM), 'telnyx-signature-ed25519': '!!!' }],
  ])('is refused with 403 when %s', (_, headers) => {
    expect(refusalOf(() => webhook.answer('telephony_b', request(headers), PLAN)).status).toBe(403)
  })

  it('needs a key that is one', () => {
    for (const bad of ['', 'short', 'x'.repeat(200)]) {
      expect(() => new CarrierWebhook({ b: { publicKey: bad } })).toThrow(RunnerError)
    }
  })
})

describe('the signature of provider C', () => {
  // Made with the provider's own library.
  const webhook = new CarrierWebhook({ c: { authToken: 'my_auth_token' } })
  const form = 'From=%2B14156667777&To=%2B14158889999&CallUUID=abcd-1234'
  const plain = 'QUFNUHBhaE5m20p3UFtVHCb66PSliiukfx8M6MyiJwk='
  const withQuery = 'IryQ8ucGk4J35wJRxh5K0iVvDCSZpHflFICcZxwx7Cc='
  const signed = (signature: string, nonce = '12345') => ({
    'x-plivo-signature-v3': signature,
    'x-plivo-signature-v3-nonce': nonce,
  })

  it.each([
    ['an address', 'https://example.com/answer', plain],
    ['an address with a query', 'https://example.com/answer?token=xyz', withQuery],
    ['one of several', 'https://example.com/answer', `bm90aGluZw==,${plain}`],
  ])('is accepted for %s', (_, url, signature) => {
    expect(webhook.answer('telephony_c', request(signed(signature), form, url), PLAN).body).toContain('wss:')
  })

  it.each([
    ['missing', {}, form],
    ['of another address', signed(withQuery), form],
    ['of another body', signed(plain), `${form}&x=1`],
    ['of another nonce', signed(plain, '54321'), form],
    ['without a nonce', { 'x-plivo-signature-v3': plain }, form],
  ])('is refused with 403 when %s', (_, headers, body) => {
    const work = () =>
      webhook.answer('telephony_c', request(headers, body, 'https://example.com/answer'), PLAN)
    expect(refusalOf(work).status).toBe(403)
  })
})

it('no webhook body or header breaks the check', () => {
  const { publicKey } = generateKeyPairSync('ed25519')
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64')
  const webhook = new CarrierWebhook({ a: { authToken: 'x' }, b: { publicKey: raw }, c: { authToken: 'y' } })
  const text = fc.string({ unit: 'binary', maxLength: 60 })
  fc.assert(
    fc.property(text, text, fc.uint8Array({ maxLength: 100 }), (header, path, bytes) => {
      const odd = { url: `https://x/${path}`, header: () => header, body: Buffer.from(bytes) }
      for (const transport of ['telephony_a', 'telephony_b', 'telephony_c'] as const) {
        expect(refusalOf(() => webhook.answer(transport, odd, PLAN)).status).toBe(403)
      }
    }),
  )
})
