import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MediaError } from '../errors.ts'
import { BROWSER_OFFER } from '../testing/offers.ts'
import { nativeOffer, parseOffer } from './sdp-offer.ts'

const without = (pattern: RegExp) => BROWSER_OFFER.replace(pattern, '')

describe('parseOffer', () => {
  it('reads what a browser offers', () => {
    expect(parseOffer(BROWSER_OFFER)).toEqual({
      bundle: true,
      audio: { mid: '0', payloadType: 111, direction: 'sendrecv' },
      channel: { mid: '3', port: 5000, maxMessageSize: 262144 },
      transport: {
        ufrag: 'EsAw',
        password: 'bP+XJMM09aR8AiX1jdukzR6Y',
        fingerprint: expect.stringMatching(/^sha-256 AB:/),
        setup: 'actpass',
      },
      candidates: ['candidate:1 1 UDP 2122260223 192.0.2.9 50001 typ host'],
      sections: [
        expect.objectContaining({ mid: '0', kind: 'audio', format: '111', bundled: true, rejected: false }),
        expect.objectContaining({ mid: '1', kind: 'video', rtpmap: '96 VP8/90000' }),
        expect.objectContaining({ mid: '2', kind: 'video' }),
        expect.objectContaining({ mid: '3', kind: 'application' }),
      ],
    })
  })

  it('takes what the whole session says when a section says nothing', () => {
    const moved = without(/a=(?:fingerprint|setup):.*\r\n/g).replace(
      's=-\r\n',
      `s=-\r\na=fingerprint:sha-256 ${new Array(32).fill('cd').join(':')}\r\na=setup:active\r\n`,
    )
    expect(parseOffer(moved).transport).toMatchObject({ setup: 'active' })
  })

  it('does without messages when there is no data section, or it has a transport of its own', () => {
    expect(parseOffer(without(/m=application[\s\S]*$/)).channel).toBeUndefined()
    expect(parseOffer(BROWSER_OFFER.replace('BUNDLE 0 1 2 3', 'BUNDLE 0 1 2')).channel).toBeUndefined()
  })

  it.each([
    ['nothing', '', /it is empty/],
    ['white space', ' \r\n', /it is empty/],
    ['a word', 'x', /does not begin with v=0/],
    ['only a version', 'v=0', /no audio section/],
    ['too much', `v=0\r\n${'a=x\r\n'.repeat(30_000)}`, /longer than/],
    ['no audio', without(/m=audio[\s\S]*?(?=m=video)/), /no audio section/],
    ['no Opus', without(/a=rtpmap:111.*\r\n/), /no audio section/],
    ['a closed audio section', BROWSER_OFFER.replace('m=audio 9', 'm=audio 0'), /no audio section/],
    ['no user name', without(/a=ice-ufrag:.*\r\n/g), /ICE/],
    ['no password', without(/a=ice-pwd:.*\r\n/g), /ICE/],
    ['no fingerprint', without(/a=fingerprint:.*\r\n/g), /fingerprint/],
    ['a short fingerprint', BROWSER_OFFER.replaceAll(':AB', ''), /fingerprint/],
    ['no DTLS role', without(/a=setup:.*\r\n/g), /DTLS/],
    ['no mid', without(/a=mid:1\r\n/), /mid/],
    ['the same mid twice', BROWSER_OFFER.replace('a=mid:1', 'a=mid:0'), /same mid/],
    ['a torn section', BROWSER_OFFER.replace('m=video 9', 'm=video'), /cannot be read/],
  ])('refuses %s', (_name, sdp, why) => {
    expect(() => parseOffer(sdp)).toThrow(MediaError)
    expect(() => parseOffer(sdp)).toThrow(why)
  })

  it('never fails in any other way', () => {
    const lines = BROWSER_OFFER.split('\r\n')
    const mutated = fc
      .array(fc.tuple(fc.nat(lines.length - 1), fc.oneof(fc.string(), fc.constantFrom(...lines))), {
        maxLength: 6,
      })
      .map((edits) => {
        const copy = [...lines]
        for (const [at, text] of edits) copy[at] = text
        return copy.join('\r\n')
      })
    fc.assert(
      fc.property(fc.oneof(fc.string(), mutated, mutated), (sdp) => {
        try {
          const text = nativeOffer(parseOffer(sdp))
          expect(parseOffer(text).audio).toEqual(parseOffer(sdp).audio)
        } catch (error) {
          expect(error).toBeInstanceOf(MediaError)
        }
      }),
      { numRuns: 500 },
    )
  })
})

describe('nativeOffer', () => {
  it('holds only the sections that we use, and no candidates', () => {
    const native = nativeOffer(parseOffer(BROWSER_OFFER))
    expect(native.match(/^m=\w+/gm)).toEqual(['m=audio', 'm=application'])
    expect(native).toContain('a=group:BUNDLE 0 3\r\n')
    expect(native).not.toMatch(/candidate|VP8|extmap/)
  })
})
