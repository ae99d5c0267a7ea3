import { posix } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkRest, isPublicAddress, pathOf, proxyAddress, websocketAddress } from './public-address.ts'

const ID = '11111111-1111-4111-8111-111111111111'

function refusal(rest: string, query = ''): string | undefined {
  try {
    checkRest({ rest, query })
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

describe('paths below a session', () => {
  it.each([
    'api/offer',
    'a',
    'a/',
    'a/b/c/',
    '...',
    '.well-known/x',
    'a..b',
    'a/..b/b..',
    '50%25',
    '%E2%9C%93',
    'a%2Fb',
    'a;v=1/b',
    "~!$&'()*+,=:@",
    '%25zz',
  ])('%s is one', (rest) => {
    expect(refusal(rest)).toBeUndefined()
  })

  it.each([
    '',
    '/',
    '/a',
    'a//b',
    'a///',
    '.',
    '..',
    './a',
    '../other',
    'a/../../other',
    'a/..',
    'a/.',
    '%2e%2e/x',
    '%2E./x',
    '.%2e%2fx',
    '..%2fx',
    '..%2Fx',
    'a%2f..%2f..%2fstart',
    'a%2f%2fb',
    '%2fa',
    '%252e%252e%252fx',
    '%25252e%25252e/x',
    '%2525252525252e',
    '..%5cx',
    'a\\b',
    '..\\x',
    '%5c..%5cx',
    '%255c',
    '..;/x',
    '..;a=b/x',
    '%2e%2e%3b/x',
    ';a',
    '%3fa',
    '..%3fa',
    'a%00b',
    'a%0d%0ab',
    '%7f',
    'a#b',
    'a%',
    'a%zz',
    'a%c0%ae%c0%ae',
    '%ff',
    'caf\u00e9',
    'a b',
  ])('%j is none', (rest) => {
    expect(refusal(rest)).toMatch(/^The path is not valid: /)
  })

  it('has a query that no reader cuts off', () => {
    expect(refusal('a', '?x=../..&y=%2e%2e/&z=//')).toBeUndefined()
    expect(refusal('a', '?x#y')).toBeDefined()
    expect(refusal('a', '?\u00e9')).toBeDefined()
  })

  it('stay below their session, however they are read', () => {
    const spelled = (character: string): fc.Arbitrary<string> => {
      const hex = character.charCodeAt(0).toString(16)
      return fc.constantFrom(character, `%${hex}`, `%${hex.toUpperCase()}`, `%25${hex}`, `%2525${hex}`)
    }
    const piece = fc.oneof(
      ...['.', '/', '\\', ';', '%', '?', '#', '\t', 'a'].map(spelled),
      fc.constantFrom('start', 'instance', ID, '%c0%ae', '%e2%80%a4', '+', ' '),
    )
    const home = `/sessions/${ID}/`
    const readers: readonly ((path: string) => string)[] = [
      (path) => new URL(path, 'http://instance').pathname,
      (path) => posix.normalize(path),
      (path) => path.replaceAll('\\', '/'),
      (path) => path.replace(/;[^/]*/g, ''),
      (path) =>
        path.replace(/%[0-9a-f]{2}/gi, (one) => String.fromCharCode(Number.parseInt(one.slice(1), 16))),
      (path) => path.replaceAll('//', '/'),
    ]
    let accepted = 0
    fc.assert(
      fc.property(
        fc.array(piece, { minLength: 1, maxLength: 12 }).map((pieces) => pieces.join('')),
        fc.array(fc.nat({ max: readers.length - 1 }), { maxLength: 8 }),
        (rest, order) => {
          if (refusal(rest) !== undefined) return
          accepted += 1
          let path = home + pathOf({ rest })
          for (const index of order) path = readers[index]?.(path) ?? path
          path = posix.normalize(path.split('?')[0] ?? '')
          expect(path.startsWith(home)).toBe(true)
          expect(path.length).toBeGreaterThan(home.length)
        },
      ),
      { numRuns: 20_000 },
    )
    expect(accepted).toBeGreaterThan(100)
  })
})

describe('addresses', () => {
  it('are taken apart', () => {
    expect(proxyAddress(`/v1/public/a-1/sessions/${ID}/api/offer?x=1?y#z`)).toEqual({
      ...{ agentName: 'a-1', sessionId: ID, rest: 'api/offer', query: '?x=1?y#z' },
    })
    expect(proxyAddress(`http://h:1/v1/public/a/sessions/b/`)).toMatchObject({ rest: '', query: '' })
    expect(websocketAddress(`/v1/public/a/sessions/b/to-ken_1/ws?x=1`)).toEqual({
      ...{ agentName: 'a', sessionId: 'b', token: 'to-ken_1', query: '?x=1' },
    })
    expect(websocketAddress(`/v1/public/a/sessions/b/t/ws-client`)).toMatchObject({ token: 't', query: '' })
  })

  it.each([
    '/v1/public/a/sessions/b',
    '/v1/public/a/start',
    '/v1/agents/a/sessions/b/c',
    '/sessions/b/c',
    '',
  ])('%s is not of a session', (url) => {
    expect(proxyAddress(url)).toBeUndefined()
  })

  it.each(['/v1/public/a/sessions/b/ws', '/v1/public/a/sessions/b/t/u/ws', '/v1/public/a/sessions/b/t/wsx'])(
    '%s is not that of a WebSocket',
    (url) => {
      expect(websocketAddress(url)).toBeUndefined()
    },
  )

  it('are public or not', () => {
    expect(
      ['/v1/public', '/v1/public/x', '/v1/public?x', 'http://a/v1/public/x'].every(isPublicAddress),
    ).toBe(true)
    expect(['/v1/publicx', '/v1', '/x/v1/public/', '*', ''].some(isPublicAddress)).toBe(false)
  })

  it('may have their slashes encoded, as clients made from the document do', () => {
    expect(pathOf({ rest: 'api%2Foffer' })).toBe('api/offer')
    expect(pathOf({ rest: 'files/a%2Fb' })).toBe('files/a%2Fb')
  })
})
