import { describe, expect, it } from 'vitest'
import { TestStorage } from '../../testing/test-storage.ts'
import { ApiError } from '../api/api-error.ts'
import { KeyShelf } from './key-shelf.ts'
import { hrefOf, type Route, routeOf } from './route.ts'
import { Session } from './session.ts'
import { loadSet } from './shown-set.ts'
import { agoWords, durationWords, sizeWords } from './words.ts'

describe('places', () => {
  it.each<Exclude<Route, { name: 'nowhere' }>>([
    { name: 'agents' },
    { name: 'agent', agent: 'my-bot' },
    { name: 'agent-sessions', agent: 'my-bot', status: undefined },
    { name: 'agent-sessions', agent: 'my-bot', status: 'active' },
    { name: 'session', agent: 'my-bot', sessionId: 'a-b' },
    { name: 'agent-log', agent: 'my-bot', filter: {} },
    {
      name: 'agent-log',
      agent: 'my-bot',
      filter: { level: 'warn', source: 'run', query: 'a & b?', deploymentId: 'd', instanceId: 'i' },
    },
    { name: 'builds', status: undefined },
    { name: 'builds', status: 'failed' },
    { name: 'build', id: 'a-b', line: undefined },
    { name: 'build', id: 'a-b', line: 123 },
    { name: 'secrets' },
    { name: 'secret-set', set: 'my.bot' },
    { name: 'keys' },
    { name: 'settings' },
  ])('%j has an address that leads back to it', (route) => {
    expect(routeOf(hrefOf(route))).toEqual(route)
  })

  it.each([
    ['', 'agents'],
    ['#', 'agents'],
    ['#/agents/', 'agents'],
    ['#/agents/x/', 'agent'],
    ['#/agents/x/sessions?status=odd', 'agent-sessions'],
    ['#/agents/x/log?level=odd&source=odd', 'agent-log'],
    ['#/agents/x/nothing', 'nowhere'],
    ['#/agents/x/log/more', 'nowhere'],
    ['#/agents/x/sessions/y/z', 'nowhere'],
    ['#/builds?status=odd', 'builds'],
    ['#/builds/x/L0', 'build'],
    ['#/nothing', 'nowhere'],
    ['#/keys/more', 'nowhere'],
    ['#/builds/x/L1/y', 'nowhere'],
    ['#/%zz', 'nowhere'],
  ])('%j is %s', (hash, name) => {
    expect(routeOf(hash)).toMatchObject({ name })
  })
})

describe('words', () => {
  it.each([
    [0, '0 bytes'],
    [999, '999 bytes'],
    [1024, '1.0 KB'],
    [123_456_789, '118 MB'],
    [9e15, '8185 TB'],
  ])('%d bytes are %s', (bytes, words) => expect(sizeWords(bytes)).toBe(words))

  it.each([
    [0.04, '0.0 s'],
    [9.6, '9.6 s'],
    [59.6, '1 min 0 s'],
    [3_599, '59 min 59 s'],
    [7_260, '2 h 1 min'],
  ])('%d seconds are %s', (seconds, words) => expect(durationWords(seconds)).toBe(words))

  it.each([
    [1, 'just now'],
    [59, '59 s ago'],
    [3_599, '59 min ago'],
    [86_399, '23 h ago'],
    [86_400, '1 day ago'],
    [86_400 * 40, '2024-01-01'],
  ])('%d seconds before are %s', (seconds, words) => {
    const at = '2024-01-01T00:00:00.000Z'
    expect(agoWords(at, Date.parse(at) + seconds * 1000)).toBe(words)
  })
})

describe('signing in', () => {
  const house = (status: number) => {
    const asked: string[] = []
    const answer = async (_: unknown, init?: RequestInit): Promise<Response> => {
      asked.push(new Headers(init?.headers).get('authorization') ?? '')
      const body = status === 200 ? { properties: {}, builds: [] } : { error: 'No.', code: 'NO' }
      return new Response(JSON.stringify(body), { status })
    }
    const short = new TestStorage()
    const long = new TestStorage()
    const session = new Session('http://cloud', answer as typeof fetch, new KeyShelf(short, long))
    return { session, asked, short, long }
  }

  it.each([true, false])('keeps a key that opens where it was asked to (for long: %s)', async (isLong) => {
    const { session, asked, short, long } = house(200)
    await session.signIn(' sk_good ', { long: isLong })
    expect(asked).toEqual(['Bearer sk_good'])
    expect(session.key.value).toBe('sk_good')
    expect([short.length, long.length]).toEqual(isLong ? [0, 1] : [1, 0])
    session.signOut()
    expect([session.key.value, short.length, long.length]).toEqual([undefined, 0, 0])
  })

  it.each([
    ['', 'Enter a private key.', 0],
    ['pk_public', 'public key', 0],
    ['sk_with space', 'not a key', 0],
    ['sk_ünïcode', 'not a key', 0],
    ['sk_unknown', 'does not know this key', 1],
  ])('tells what is wrong with %j', async (key, words, requests) => {
    const { session, asked, short, long } = house(401)
    await session.signIn(key, { long: true })
    expect(session.notice.value).toContain(words)
    expect(session.key.value).toBeUndefined()
    expect([asked.length, short.length, long.length]).toEqual([requests, 0, 0])
  })

  it('signs out with a sentence when the key is refused later', async () => {
    const { session, long } = house(401)
    long.setItem('botcli-cloud-key', 'sk_old')
    const later = new Session(
      'http://cloud',
      async () => new Response('{}', { status: 401 }),
      new KeyShelf(new TestStorage(), long),
    )
    expect(later.key.value).toBe('sk_old')
    await expect(later.api.value?.properties()).rejects.toThrow()
    expect(later.key.value).toBeUndefined()
    expect(later.notice.value).toContain('signed out')
    expect(long.length).toBe(0)
    session.signOut()
  })
})

describe('tabs of one browser', () => {
  /** Tabs that share what is kept for long, and hear of its changes. */
  const tabs = async (...kept: readonly boolean[]) => {
    const sessions: Session[] = []
    const long = new TestStorage()
    const answer = async () => new Response('{"properties":{}}')
    for (const isLong of kept) {
      const mine: { session?: Session } = {}
      const heard = new TestStorage(long, (key, newValue) => {
        for (const other of sessions) if (other !== mine.session) other.hear({ key, newValue })
      })
      mine.session = new Session('http://cloud', answer, new KeyShelf(new TestStorage(), heard))
      sessions.push(mine.session)
      if (mine.session.key.value === undefined) await mine.session.signIn('sk_good', { long: isLong })
    }
    return sessions
  }

  it.each([
    [true, true],
    [true, false],
    [false, true],
    [false, false],
  ])('sign out together (for long: %s, %s)', async (...kept) => {
    const [first, second] = await tabs(...kept)
    expect([first?.key.value, second?.key.value]).toEqual(['sk_good', 'sk_good'])
    first?.signOut()
    expect([first?.key.value, second?.key.value]).toEqual([undefined, undefined])
    expect([first?.notice.value, second?.notice.value]).toEqual([
      undefined,
      'You were signed out in another tab.',
    ])
  })

  it('do not sign out because another one signs in', async () => {
    const [first, second] = await tabs(false, false)
    await second?.signIn('sk_other', { long: true })
    await second?.signIn('sk_third', { long: false })
    expect(first?.key.value).toBe('sk_good')
  })
})

describe('a set', () => {
  const refusing = (status: number, type: 'secret' | 'imagePullSecret') => ({
    secretSet: () => Promise.reject(new ApiError(status, 'NO', 'No.')),
    secretSets: async () => [{ name: 'one', type, region: 'far', status: 'ready' as const }],
  })

  it('with credentials of a registry is shown without what is in it', async () => {
    expect(await loadSet(refusing(400, 'imagePullSecret'), 'one')).toEqual({ region: 'far' })
  })

  it.each([
    [404, 'imagePullSecret', 'one'],
    [400, 'secret', 'one'],
    [400, 'imagePullSecret', 'other'],
  ] as const)('that is refused stays so (%d, %s, %s)', async (status, type, name) => {
    await expect(loadSet(refusing(status, type), name)).rejects.toThrow('No.')
  })
})
