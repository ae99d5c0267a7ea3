import type { CallReport } from '@botcli/media/phone'
import { expect, it } from 'vitest'
import { faultsOf } from './verdict.ts'

const GOOD: CallReport = {
  url: 'ws://localhost:7860/ws',
  carrier: 'telephony_a',
  callId: 'CA1',
  streamId: 'MZ1',
  from: '+15550100',
  to: '+15550199',
  coding: { codec: 'pcmu', rate: 8000 },
  events: [],
  answeredMs: 5,
  firstAudioMs: 100,
  receivedMs: 1000,
  turns: [{ startMs: 160, ms: 1000, gaps: 0, gapMs: 0, cut: false }],
  gaps: 0,
  gapMs: 0,
  clears: 0,
  clearedMs: 0,
  marksAsked: 0,
  marksPlayed: 0,
  violations: [],
  violationCount: 0,
  unsaid: 0,
  mischief: { lost: 0, late: 0, duplicated: 0, malformed: 0 },
  closed: { at: 2000, by: 'caller', code: 1000, reason: '', unplayedMs: 0 },
  said: new Int16Array(),
  heard: new Int16Array(),
}

const closed = (by: 'runner' | 'network', code: number, reason = '') => ({
  closed: { at: 1, by, code, reason, unplayedMs: 0 },
})

it.each([
  {},
  closed('runner', 1000, 'The bot is done.'),
  closed('runner', 4000),
  closed('runner', 4001),
  { gaps: 3, gapMs: 100 },
])('a success: %j', (change) => {
  expect(faultsOf({ ...GOOD, ...change }, {})).toEqual([])
})

it.each([
  [closed('runner', 1011, 'It failed.'), 'The runner ended the call (code 1011) with the words: It failed.'],
  [closed('runner', 1012), 'The runner ended the call (code 1012) without a reason'],
  [closed('runner', 1008, 'Not here.'), 'The runner refused the call with the words: Not here.'],
  [closed('network', 1006), 'The connection broke during the call.'],
  [{ turns: [] }, 'The bot sent nothing but silence.'],
  [{ turns: [], receivedMs: 0 }, 'The bot was not heard.'],
  [
    { turns: [], ...closed('runner', 4000, 'The session was stopped through the API.') },
    'The call was ended before the bot was heard: The session was stopped through the API.',
  ],
  [
    { turns: [], ...closed('runner', 1008, 'Not here.') },
    'The runner refused the call with the words: Not here.',
  ],
  [{ unsaid: 1 }, 'The time was up before the caller had said or pressed one thing; raise --for.'],
  [{ violations: ['a', 'b'], violationCount: 7 }, "The runner broke the carrier's protocol 7 times: a; b."],
])('a failure, in one sentence: %j', (change, fault) => {
  expect(faultsOf({ ...GOOD, ...change }, {})).toEqual([fault])
})

it('is no failure when the caller broke the line on purpose', () => {
  for (const wrong of [{ vanish: 3 }, { 'half-closed': 0 }]) {
    expect(faultsOf({ ...GOOD, ...closed('network', 1006) }, wrong)).toEqual([])
  }
  expect(faultsOf({ ...GOOD, ...closed('network', 1006) }, { jitter: 3 })).toHaveLength(1)
})

it('says what is known of a call that was not answered', () => {
  const { answeredMs: _, ...unanswered } = GOOD
  const fault = (refused?: CallReport['refused']) =>
    faultsOf({ ...unanswered, ...(refused && { refused }), turns: [] }, {}).join()
  expect(fault({ status: 429, message: 'Too many.' })).toBe(
    'The runner refused the call (HTTP 429): Too many.',
  )
  expect(fault({ message: 'connect ECONNREFUSED 127.0.0.1:1' })).toContain('botcli run')
  expect(fault({ message: 'Opening handshake has timed out' })).not.toContain('botcli run')
  expect(fault()).toContain('given up')
})
