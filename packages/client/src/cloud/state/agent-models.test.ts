import {
  agentDetails,
  CLOUD_END_CAUSES,
  type CloudEndCause,
  sessionListResponse,
} from '@botcli/protocol/cloud'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { aDeployment, anAgent, aSession, idOf } from '../../testing/agent-samples.ts'
import { TestStorage } from '../../testing/test-storage.ts'
import type { SessionsWanted } from '../api/agents-api.ts'
import { ApiError } from '../api/api-error.ts'
import { AgentModel } from './agent-model.ts'
import { canRollBackTo, clockWords, reasonWords, shownAgent, shownSession } from './agent-words.ts'
import { KeyShelf } from './key-shelf.ts'
import { SessionsModel } from './sessions-model.ts'
import { TALK_KEY_NAME, talkAddress, talkKey } from './talk-key.ts'

beforeEach(() => {
  vi.stubGlobal('document', { visibilityState: 'visible', addEventListener() {}, removeEventListener() {} })
})
afterEach(() => vi.unstubAllGlobals())

async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

describe('the state of an agent', () => {
  const [one, two] = [idOf(1), idOf(2)]
  it.each([
    [true, true, two, two, two, 'Ready'],
    [false, false, two, null, null, 'Starting'],
    [false, true, two, one, one, 'Rolling out'],
    [false, true, two, one, two, 'Ready, last deployment failed'],
    [false, false, two, null, two, 'Failed'],
    [false, false, two, two, two, 'Not available'],
  ])(
    'ready %s, available %s, wanted %s, active %s, decided %s: %s',
    (ready, available, desired, active, decided, words) => {
      const ids = {
        desiredDeploymentId: desired,
        activeDeploymentId: active,
        reconciledDeploymentId: decided,
      }
      expect(shownAgent({ ready, available, ...ids }).words).toBe(words)
    },
  )

  it('a deployment can be gone back to if it was active and is not wanted already', () => {
    const wanted = { desiredDeploymentId: idOf(9) }
    const can = (['Creating', 'Validating', 'Active', 'Draining', 'Retired', 'Failed'] as const).filter(
      (phase) => canRollBackTo({ id: idOf(1), phase }, wanted),
    )
    expect(can).toEqual(['Active', 'Draining', 'Retired'])
    expect(canRollBackTo({ id: idOf(9), phase: 'Active' }, wanted)).toBe(false)
  })

  it('says why a deployment was made', () => {
    expect(reasonWords(aDeployment({ reason: 'rollback' }), '#2')).toBe('Rollback to #2')
    expect(reasonWords(aDeployment({ reason: 'rollback' }), undefined)).toBe('Rollback')
  })
})

describe('the outcome of a session', () => {
  it.each(Object.keys(CLOUD_END_CAUSES) as CloudEndCause[])('%s has words', (cause) => {
    const outcome = { result: CLOUD_END_CAUSES[cause], cause, message: '' }
    const { words, tone } = shownSession({ state: 'ended', outcome })
    expect(words).toMatch(/^[A-Z][a-z ]+$/)
    expect(tone).toBe(outcome.result === 'ok' ? 'quiet' : 'bad')
  })

  it('is its state until it is over', () => {
    expect(shownSession({ state: 'starting', outcome: null }).words).toBe('Starting')
    expect(shownSession({ state: 'active', outcome: null }).words).toBe('Running')
  })
})

it('tells the time of today, and the day of other days', () => {
  const at = new Date(2024, 4, 6, 7, 8, 9)
  expect(clockWords(at.toISOString(), at.getTime())).toBe('07:08:09')
  expect(clockWords(at.toISOString(), at.getTime() + 86_400_000)).toBe('2024-05-06 07:08:09')
})

describe('an agent that is looked at', () => {
  it('names deployments by number, counts places, and reads anew after a change', async () => {
    let max = 4
    const asked: unknown[] = []
    const newest = aDeployment({ number: 7, sessionsPerInstance: 3 })
    const model = new AgentModel(
      {
        get: async () =>
          agentDetails.parse(
            anAgent({ deployment: newest, autoScaling: { minReplicas: 1, maxReplicas: max } }),
          ),
        deployments: async (_, limit) => ({ deployments: [newest], total: 1, limit, offset: 0 }),
        scale: async (...wanted) => {
          asked.push(wanted)
          max = wanted[1].maxAgents
        },
        rollBack: async () => {},
        remove: async () => {},
      },
      'my-bot',
    )
    await settle()
    expect(model.maxSessions.value).toBe(12)
    expect([model.numberOf(newest.id), model.numberOf(idOf(99)), model.numberOf(null)]).toEqual([
      '#7',
      undefined,
      undefined,
    ])
    await model.scale(0, 9)
    expect(asked).toEqual([['my-bot', { minAgents: 0, maxAgents: 9 }]])
    expect(model.maxSessions.value).toBe(27)
    model.close()
  })

  it('is gone when the cloud says so, and not because of a fault', async () => {
    let status = 500
    const fail = async () => Promise.reject(new ApiError(status, 'NO', 'No.'))
    const model = new AgentModel(
      { get: fail, deployments: fail, scale: async () => {}, rollBack: fail, remove: fail },
      'x',
    )
    await settle()
    expect([model.gone.value, model.problem.value]).toEqual([false, 'No.'])
    status = 404
    await model.scale(0, 1)
    expect(model.gone.value).toBe(true)
    model.close()
  })
})

describe('the list of sessions', () => {
  /** An agent whose newest session has the highest number. */
  class Sessions {
    count = 50
    readonly asked: SessionsWanted[] = []
    readonly sessions = async (_: string, wanted: SessionsWanted) => {
      this.asked.push(wanted)
      const from = wanted.cursor === undefined ? this.count : Number(wanted.cursor)
      const numbers = Array.from({ length: Math.min(wanted.limit, from) }, (_, index) => from - index)
      const rest = from - numbers.length
      return sessionListResponse.parse({
        total_count: this.count,
        sessions: numbers.map((number) => aSession({ sessionId: idOf(number), state: 'active' })),
        ...(rest > 0 && { nextCursor: String(rest) }),
      })
    }
  }
  const numbersOf = (model: SessionsModel): readonly number[] =>
    (model.sessions.value ?? []).map(({ sessionId }) => Number(sessionId.slice(-4)))
  const down = (from: number, to: number): readonly number[] =>
    Array.from({ length: from - to + 1 }, (_, index) => from - index)

  it('grows by older ones, and newer ones come in front without a gap or a double', async () => {
    const api = new Sessions()
    const model = new SessionsModel(api, 'x', 'active')
    await settle()
    expect(numbersOf(model)).toEqual(down(50, 31))
    expect(api.asked[0]).toEqual({ status: 'active', limit: 20, cursor: undefined })
    await model.more()
    expect(numbersOf(model)).toEqual(down(50, 11))
    api.count = 53
    model.refresh()
    await settle()
    expect(numbersOf(model)).toEqual(down(53, 11))
    expect(model.total.value).toBe(53)
    await model.more()
    expect(numbersOf(model)).toEqual(down(53, 1))
    expect(model.hasMore.value).toBe(false)
    model.close()
  })

  it('begins anew when more have come than one page has', async () => {
    const api = new Sessions()
    const model = new SessionsModel(api, 'x', undefined)
    await settle()
    expect(api.asked[0]?.status).toBe('all')
    api.count = 90
    model.refresh()
    await settle()
    expect(numbersOf(model)).toEqual(down(90, 71))
    await model.more()
    expect(numbersOf(model)).toEqual(down(90, 51))
    model.close()
  })
})

describe('the key of the talk page', () => {
  const house = () => {
    const short = new TestStorage()
    const long = new TestStorage()
    const shelf = new KeyShelf(short, long)
    const made: { key: string; revokedAt: string | null }[] = []
    const record = (key: string, revokedAt: string | null) => ({
      ...{ id: idOf(1), name: TALK_KEY_NAME, family: 'public' as const, prefix: key.slice(0, 7), revokedAt },
      ...{ createdAt: new Date(0).toISOString(), lastUsedAt: null },
    })
    const api = {
      keys: async () => made.map(({ key, revokedAt }) => record(key, revokedAt)),
      createKey: async () => {
        const key = `pk_key${made.length}-${'x'.repeat(30)}`
        made.push({ key, revokedAt: null })
        return { key, record: record(key, null) }
      },
    }
    return { short, long, shelf, made, api }
  }

  it.each([true, false])('is made once, and kept where the private one is (for long: %s)', async (isLong) => {
    const { short, long, shelf, made, api } = house()
    shelf.keep('sk_x', { long: isLong })
    const key = await talkKey(api, shelf)
    expect(await talkKey(api, shelf)).toBe(key)
    expect(made).toHaveLength(1)
    expect([short.length, long.length]).toEqual(isLong ? [0, 2] : [2, 0])
    shelf.clear()
    expect([short.length, long.length]).toEqual([0, 0])
  })

  it('is made anew when it was revoked, or is of another cloud', async () => {
    const { shelf, made, api } = house()
    shelf.keep('sk_x', { long: false })
    const first = await talkKey(api, shelf)
    for (const one of made) one.revokedAt = new Date(0).toISOString()
    const second = await talkKey(api, shelf)
    expect(second).not.toBe(first)
    shelf.keepPublic('pk_foreign')
    expect(await talkKey(api, shelf)).toBe(shelf.readPublic())
    expect(made).toHaveLength(3)
  })

  it('does not outlive the one that signed in', async () => {
    const { shelf } = house()
    shelf.keepPublic('pk_before')
    shelf.keep('sk_other', { long: true })
    expect(shelf.readPublic()).toBeUndefined()
  })

  it('stands behind # in the address', () => {
    const url = new URL(talkAddress('my-bot', 'pk_a+b'), 'http://cloud')
    expect(url.search).toBe('?agent=my-bot')
    expect(new URLSearchParams(url.hash.slice(1)).get('key')).toBe('pk_a+b')
  })
})
