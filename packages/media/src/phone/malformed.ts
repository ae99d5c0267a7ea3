/** Messages that no carrier should send, made from a good one. Binary ones are bytes. */
export function malformedMessages(goodMedia: string): readonly (string | Uint8Array)[] {
  const good = JSON.parse(goodMedia) as { readonly media: object }
  const media = (payload: unknown) => JSON.stringify({ ...good, media: { ...good.media, payload } })
  return [
    'this is no JSON',
    '[]',
    '7',
    'null',
    '"media"',
    '{}',
    goodMedia.slice(0, -5),
    JSON.stringify({ ...good, media: null }),
    JSON.stringify({ ...good, media: [] }),
    media('*** no base64 ***'),
    media(42),
    media(null),
    JSON.stringify({ ...good, event: 'dtmf', dtmf: null }),
    JSON.stringify({ ...good, event: 'dtmf', dtmf: { digit: 'XYZ' } }),
    JSON.stringify({ ...good, event: 'mark', mark: null, name: null }),
    JSON.stringify({ ...good, event: 'nonsense' }),
    JSON.stringify({ ...good, event: { deep: [[[[]]]] } }),
    JSON.stringify({ ...good, media: { ...good.media, chunk: 1e308, timestamp: -1e308, payload: '' } }),
    Uint8Array.of(0, 255, 1, 254, 2, 253),
    new Uint8Array(2048).fill(0xff),
  ]
}
