import { describe, expect, it } from 'vitest'
import { BROWSER_OFFER } from '../testing/offers.ts'
import { composeAnswer } from './sdp-answer.ts'
import { parseOffer } from './sdp-offer.ts'

const NATIVE = [
  'v=0',
  'o=rtc 1 0 IN IP4 127.0.0.1',
  's=-',
  't=0 0',
  'a=group:BUNDLE 0 3',
  'a=fingerprint:sha-256 AA:BB',
  'm=audio 5000 UDP/TLS/RTP/SAVPF 111',
  'a=mid:0',
  'a=sendrecv',
  'a=setup:active',
  'a=ice-ufrag:abcd',
  'a=ice-pwd:efgh',
  'a=fingerprint:sha-512 CC:DD',
  'a=candidate:1 1 UDP 2114977791 192.0.2.2 5000 typ host',
  'a=candidate:2 1 UDP 2116026111 fd00::2 5000 typ host',
  'a=candidate:3 1 UDP 1000 198.51.100.4 5000 typ srflx raddr 192.0.2.2 rport 5000',
  'm=application 5000 UDP/DTLS/SCTP webrtc-datachannel',
  'a=mid:3',
  '',
].join('\r\n')

const OFFER = parseOffer(BROWSER_OFFER)
const candidates = (sdp: string) => sdp.match(/^a=candidate:.*(?=\r)/gm)

describe('composeAnswer', () => {
  it('has every section of the offer in its order, and declines without closing', () => {
    const answer = composeAnswer(OFFER, NATIVE, {})
    expect(answer.match(/^(?:m=\S+ \d+|a=mid:\d)/gm)).toEqual([
      'm=audio 5000',
      'a=mid:0',
      'm=video 9',
      'a=mid:1',
      'm=video 9',
      'a=mid:2',
      'm=application 5000',
      'a=mid:3',
    ])
    expect(answer.match(/a=group:.*(?=\r)/g)).toEqual(['a=group:BUNDLE 0 1 2 3'])
    const video = answer.slice(answer.indexOf('m=video'), answer.lastIndexOf('m=video'))
    expect(video).toContain('a=inactive')
    expect(video).toContain('a=ice-ufrag:abcd')
    expect(video).toContain('a=rtpmap:96 VP8/90000')
    expect(answer.endsWith('\r\n')).toBe(true)
    expect(answer).not.toContain('\r\n\r\n')
  })

  it('keeps closed what the client closed, and closes what has a transport of its own', () => {
    const closed = parseOffer(BROWSER_OFFER.replace('m=video 9', 'm=video 0').replace('0 1 2 3', '0 1 3'))
    const answer = composeAnswer(closed, NATIVE, {})
    expect(answer.match(/m=video 0/g)).toHaveLength(2)
    expect(answer).toContain('a=group:BUNDLE 0 3\r\n')
  })

  it('announces one address instead of the ones that were found', () => {
    expect(candidates(composeAnswer(OFFER, NATIVE, { announcedAddress: '203.0.113.5' }))).toEqual([
      'a=candidate:1 1 UDP 2114977791 203.0.113.5 5000 typ host',
    ])
  })

  it('leaves an ESP32 one candidate and one kind of fingerprint', () => {
    const answer = composeAnswer(OFFER, NATIVE, { esp32Host: '192.0.2.2' })
    expect(candidates(answer)).toEqual(['a=candidate:1 1 UDP 2114977791 192.0.2.2 5000 typ host'])
    expect(answer).not.toContain('sha-512')
    expect(answer).toContain('sha-256')
  })
})
