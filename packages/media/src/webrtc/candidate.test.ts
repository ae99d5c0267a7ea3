import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { usableCandidate } from './candidate.ts'

describe('usableCandidate', () => {
  it('spells a usable candidate anew', () => {
    expect(
      usableCandidate(
        'candidate:842163049 1 udp 1677729535 198.51.100.4 46154 typ srflx raddr 10.0.0.1 rport 9',
      ),
    ).toBe('candidate:842163049 1 UDP 1677729535 198.51.100.4 46154 typ srflx')
    expect(usableCandidate('a=candidate:1 1 UDP 1 2001:db8::1 5000 typ host')).toContain('2001:db8::1')
  })

  it.each([
    ['nothing', ''],
    ['a browser name', 'candidate:1 1 udp 1 9b36eaac-bb2e.local 5000 typ host'],
    ['a host name', 'candidate:1 1 udp 1 example.com 5000 typ host'],
    ['TCP', 'candidate:1 1 tcp 1 192.0.2.1 9 typ host tcptype active'],
    ['RTCP', 'candidate:1 2 udp 1 192.0.2.1 5000 typ host'],
    ['no address', 'candidate:1 1 udp 1 1.2.3 5000 typ host'],
    ['port zero', 'candidate:1 1 udp 1 192.0.2.1 0 typ host'],
    ['a port too high', 'candidate:1 1 udp 1 192.0.2.1 65536 typ host'],
    ['too much', `candidate:1 1 udp 1 192.0.2.1 5000 typ host ${'x'.repeat(600)}`],
  ])('leaves out %s', (_name, text) => {
    expect(usableCandidate(text)).toBeUndefined()
  })

  it('never throws', () => {
    fc.assert(fc.property(fc.string(), (text) => usableCandidate(`candidate:${text}`) === undefined))
  })
})
