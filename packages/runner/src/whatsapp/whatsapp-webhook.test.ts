import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { LogCapture } from '../testing/log-capture.ts'
import { refusalOf } from '../testing/refusal.ts'
import {
  connectPayload,
  terminatePayload,
  WHATSAPP_CONFIG,
  WhatsappDouble,
} from '../testing/whatsapp-double.ts'
import { WhatsappWebhook } from './whatsapp-webhook.ts'

const sender = new WhatsappDouble()
let log: LogCapture
let webhook: WhatsappWebhook
beforeEach(() => {
  log = new LogCapture()
  webhook = new WhatsappWebhook(WHATSAPP_CONFIG, log.logger)
})

describe('the verification', () => {
  const query = {
    'hub.mode': 'subscribe',
    'hub.verify_token': WHATSAPP_CONFIG.verificationToken,
    'hub.challenge': '1158201444',
  }

  it('repeats the challenge', () => {
    expect(webhook.verify(query)).toBe('1158201444')
  })

  it.each([
    ['another mode', { ...query, 'hub.mode': 'unsubscribe' }],
    ['another token', { ...query, 'hub.verify_token': 'x' }],
    ['no token', { 'hub.mode': 'subscribe', 'hub.challenge': '1' }],
    ['markup as a challenge', { ...query, 'hub.challenge': '<script>' }],
    ['no challenge', { ...query, 'hub.challenge': '' }],
    ['nothing', {}],
  ])('refuses %s with 403', (_, odd) => {
    const error = refusalOf(() => webhook.verify(odd))
    expect(error).toMatchObject({ code: 'sender_not_verified', status: 403 })
    expect(error.message).not.toContain(WHATSAPP_CONFIG.verificationToken)
  })
})

describe('the signature', () => {
  it.each([
    ['missing', undefined],
    ['empty', ''],
    ['without its name', sender.webhook(connectPayload()).header('x-hub-signature-256')?.slice(7)],
    ['by somebody else', sender.webhook(connectPayload(), 'another secret').header('x-hub-signature-256')],
    ['of something else', sender.webhook(terminatePayload()).header('x-hub-signature-256')],
  ])('is refused with 403 when %s', (_, signature) => {
    const { body } = sender.webhook(connectPayload())
    const error = refusalOf(() => webhook.receive({ header: () => signature, body }))
    expect(error).toMatchObject({ code: 'sender_not_verified', status: 403 })
  })

  it('is looked at before the body', () => {
    const { header } = sender.webhook('{}')
    expect(refusalOf(() => webhook.receive({ header, body: Buffer.from('not JSON') })).status).toBe(403)
    expect(log.lines).toEqual([])
  })
})

describe('what is told', () => {
  it('is who calls, without the SDP', () => {
    expect(webhook.receive(sender.webhook(connectPayload()))).toEqual([
      {
        kind: 'connect',
        callId: 'wacid.1',
        sdp: 'v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\n',
        body: {
          id: 'wacid.1',
          event: 'connect',
          from: '15550001111',
          to: '15550002222',
          timestamp: '1762216151',
          direction: 'USER_INITIATED',
          contact: { wa_id: '15550001111', name: 'Ada' },
        },
      },
    ])
  })

  it('is that a call is over', () => {
    expect(webhook.receive(sender.webhook(terminatePayload()))).toEqual([
      { kind: 'terminate', callId: 'wacid.1' },
    ])
  })

  it('may be several calls at once', () => {
    const { entry: one } = connectPayload('wacid.1') as { entry: unknown[] }
    const { entry: two } = terminatePayload('wacid.2') as { entry: unknown[] }
    const both = { object: 'whatsapp_business_account', entry: [...one, ...two] }
    expect(webhook.receive(sender.webhook(both)).map(({ callId }) => callId)).toEqual(['wacid.1', 'wacid.2'])
  })

  it.each([
    ['a text message', { field: 'messages', value: { messages: [{ text: { body: 'hello' } }] } }],
    ['an unknown shape of calls', { field: 'calls', value: { calls: 3 } }],
    ['a status', { field: 'calls', value: { metadata: { phone_number_id: '1' }, statuses: [{}] } }],
  ])('is nothing for us in %s, and no error', (_, change) => {
    const body = { object: 'whatsapp_business_account', entry: [{ id: '1', changes: [change] }] }
    expect(webhook.receive(sender.webhook(body))).toEqual([])
  })

  it.each([
    ['an unknown event', connectPayload('wacid.1', { event: 'ringing' })],
    [
      'an answer instead of an offer',
      connectPayload('wacid.1', { session: { sdp: 'v=0', sdp_type: 'answer' } }),
    ],
    ['a call without an id', connectPayload('')],
    ['a call for another number', connectPayload('wacid.1', {}, { phone_number_id: '9' })],
  ])('leaves out %s with a word in the log', (_, payload) => {
    expect(webhook.receive(sender.webhook(payload))).toEqual([])
    expect(log.find('left out')).toBeDefined()
  })

  it.each(['', '{', '[]', '{}', '{"object":"page","entry":[]}'])('is refused with 422: %s', (body) => {
    expect(refusalOf(() => webhook.receive(sender.webhook(body))).status).toBe(422)
  })

  it('never breaks anything, however odd it is', () => {
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 4 }),
      fc.record({ metadata: fc.jsonValue(), calls: fc.jsonValue() }),
    )
    const odd = fc.oneof(
      fc.string({ unit: 'binary' }),
      value.map((inner) => JSON.stringify(inner)),
      value.map((inner) =>
        JSON.stringify({
          object: 'whatsapp_business_account',
          entry: [{ changes: [{ field: 'calls', value: inner }] }],
        }),
      ),
      fc
        .dictionary(fc.constantFrom('id', 'from', 'event', 'session', 'timestamp'), fc.jsonValue())
        .map((call) => JSON.stringify(connectPayload('wacid.1', call))),
    )
    fc.assert(
      fc.property(odd, (text) => {
        try {
          webhook.receive(sender.webhook(text))
        } catch (error) {
          expect(error).toMatchObject({ status: 422 })
        }
      }),
    )
  })
})
