import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { RequestError } from '../request-error.ts'
import { LogCapture } from '../testing/log-capture.ts'
import {
  connectPayload,
  terminatePayload,
  WHATSAPP_CONFIG,
  WhatsappDouble,
} from '../testing/whatsapp-double.ts'
import { WhatsappApi } from './whatsapp-api.ts'
import { type AnswerCall, onlySha256, WhatsappCalls } from './whatsapp-calls.ts'
import { WhatsappWebhook } from './whatsapp-webhook.ts'

const ANSWER = 'v=0\r\na=fingerprint:sha-512 AA:BB\r\na=fingerprint:sha-256 CC:DD\r\na=end\r\n'

let double: WhatsappDouble
let log: LogCapture
let calls: WhatsappCalls
let ends: string[]
/** What a session tells when it is over, by call. */
let hooks: Map<string, () => void>

beforeEach(async () => {
  double = new WhatsappDouble()
  log = new LogCapture()
  ends = []
  hooks = new Map()
  await double.listen()
  calls = callsWith()
})
afterEach(async () => {
  double.mood = 'broken'
  await calls.close()
  await double.close()
})

const answer: AnswerCall = async (_, { id }, onEnded) => {
  hooks.set(id, onEnded)
  return {
    sdp: ANSWER,
    end: async (cause) => {
      ends.push(`${cause} ${id}`)
      onEnded()
    },
  }
}

function callsWith(answerCall: AnswerCall = answer, limitMs?: number): WhatsappCalls {
  const api = new WhatsappApi({ config: double.config, limitMs })
  return new WhatsappCalls({ api, answer: answerCall, logger: log.logger })
}

/** Goes the whole way from the signed webhook call. */
function tell(payload: object): void {
  const webhook = new WhatsappWebhook(WHATSAPP_CONFIG, log.logger)
  for (const event of webhook.receive(double.webhook(payload))) calls.handle(event)
}

describe('a call', () => {
  it('is accepted with an answer that the provider understands', async () => {
    tell(connectPayload())
    await calls.settled()
    expect(double.actions).toEqual(['pre_accept wacid.1', 'accept wacid.1'])
    expect(double.complaints).toEqual([])
    expect(JSON.parse(double.seen[0]?.body ?? '')).toMatchObject({
      to: '15550001111',
      session: { sdp: 'v=0\r\na=fingerprint:sha-256 CC:DD\r\na=end\r\n', sdp_type: 'answer' },
    })
    expect(calls.size).toBe(1)
  })

  it('that the provider tells of again is still one call', async () => {
    tell(connectPayload())
    tell(connectPayload())
    await calls.settled()
    tell(connectPayload())
    tell(terminatePayload())
    tell(connectPayload())
    await calls.settled()
    expect(double.actions).toEqual(['pre_accept wacid.1', 'accept wacid.1'])
    expect(ends).toEqual(['client_left wacid.1'])
  })

  it('ends when the caller hangs up, and the provider is not told what it knows', async () => {
    tell(connectPayload())
    await calls.settled()
    tell(terminatePayload())
    await calls.settled()
    expect(ends).toEqual(['client_left wacid.1'])
    expect(double.actions).not.toContain('terminate wacid.1')
    expect(calls.size).toBe(0)
  })

  it('is terminated once when its session ends', async () => {
    tell(connectPayload())
    await calls.settled()
    hooks.get('wacid.1')?.()
    hooks.get('wacid.1')?.()
    tell(terminatePayload())
    await calls.settled()
    expect(double.actions.slice(2)).toEqual(['terminate wacid.1'])
    expect(calls.size).toBe(0)
  })

  it('that was given up before it was answered is not accepted', async () => {
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    calls = callsWith(async (...details) => {
      await gate
      return answer(...details)
    })
    tell(connectPayload())
    tell(terminatePayload())
    release()
    await calls.settled()
    expect(double.actions).toEqual([])
    expect(ends).toEqual(['client_left wacid.1'])
  })

  it('whose session ends while it is being accepted is terminated after that', async () => {
    double.onAction = (action) => {
      if (action === 'accept') hooks.get('wacid.1')?.()
    }
    tell(connectPayload())
    await calls.settled()
    expect(double.actions).toEqual(['pre_accept wacid.1', 'accept wacid.1', 'terminate wacid.1'])
    expect(calls.size).toBe(0)
  })

  it('whose caller leaves while it is being accepted needs no more words', async () => {
    double.onAction = (action) => {
      if (action === 'pre_accept') tell(terminatePayload())
    }
    double.refused = 'pre_accept'
    tell(connectPayload())
    await calls.settled()
    expect(double.actions).toEqual(['pre_accept wacid.1'])
    expect(ends).toEqual(['client_left wacid.1'])
    expect(log.lines).toEqual([])
  })

  it('that is over before it began is not begun', async () => {
    tell(terminatePayload())
    tell(connectPayload())
    await calls.settled()
    expect(double.actions).toEqual([])
    expect(hooks.size).toBe(0)
  })

  it('is rejected when there is no session for it', async () => {
    calls = callsWith(async () => {
      throw new RequestError('too_many_sessions', 'All sessions are taken.')
    })
    tell(connectPayload())
    await calls.settled()
    expect(double.actions).toEqual(['reject wacid.1'])
    expect(log.find('All sessions are taken.')).toBeDefined()
    expect(calls.size).toBe(0)
  })

  it.each([
    ['pre_accept', 'reject wacid.1'],
    ['accept', 'terminate wacid.1'],
  ] as const)('has its session ended when the provider refuses to %s', async (action, last) => {
    double.refused = action
    tell(connectPayload())
    await calls.settled()
    expect(double.actions.at(-1)).toBe(last)
    expect(ends).toEqual(['media_failed wacid.1'])
    expect(calls.size).toBe(0)
  })

  it.each(['refusing', 'silent', 'broken', 'garbled'] as const)(
    'leaves nothing behind when the provider is %s, and no secret in the log',
    async (mood) => {
      double.mood = mood
      calls = callsWith(answer, mood === 'silent' ? 300 : undefined)
      tell(connectPayload())
      await calls.settled()
      expect(ends).toEqual(['media_failed wacid.1'])
      expect(calls.size).toBe(0)
      expect(log.find('could not be taken')).toBeDefined()
      expect(JSON.stringify(log.lines)).not.toContain(WHATSAPP_CONFIG.token)
    },
  )
})

it('several calls do not know of each other', async () => {
  for (const id of ['wacid.1', 'wacid.2', 'wacid.3']) tell(connectPayload(id))
  await calls.settled()
  tell(terminatePayload('wacid.2'))
  await calls.settled()
  expect(calls.size).toBe(2)
  expect(ends).toEqual(['client_left wacid.2'])
})

it('closing ends every call and takes no new one', async () => {
  for (const id of ['wacid.1', 'wacid.2']) tell(connectPayload(id))
  await calls.settled()
  await calls.close()
  tell(connectPayload('wacid.3'))
  await calls.settled()
  expect(double.actions.slice(4).sort()).toEqual(['terminate wacid.1', 'terminate wacid.2'])
  expect(calls.size).toBe(0)
})

it('only fingerprints that are not sha-256 are left out', () => {
  expect(onlySha256('a=fingerprint:SHA-256 A\na=fingerprint:sha-1 B\nc')).toBe('a=fingerprint:SHA-256 A\nc')
})
