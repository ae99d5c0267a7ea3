import fc from 'fast-check'
import { expect, it } from 'vitest'
import { EventStreamParser, type StreamEvent } from './event-stream.ts'

function parse(pieces: readonly string[]): readonly StreamEvent[] {
  const parser = new EventStreamParser()
  return pieces.flatMap((piece) => [...parser.push(piece)])
}

it.each([
  ['data: a\n\n', [{ id: undefined, type: 'message', data: 'a' }]],
  ['id: 1\nevent: end\ndata:b\n\n', [{ id: '1', type: 'end', data: 'b' }]],
  ['data: a\ndata: b\n\n', [{ id: undefined, type: 'message', data: 'a\nb' }]],
  [
    'id: 1\ndata: a\n\ndata: b\n\n',
    [
      { id: '1', type: 'message', data: 'a' },
      { id: '1', type: 'message', data: 'b' },
    ],
  ],
  [': beat\n\nevent: x\n\ndata: a\n\n', [{ id: undefined, type: 'message', data: 'a' }]],
  ['data\n\n', [{ id: undefined, type: 'message', data: '' }]],
  ['retry: 5\nother: x\n\n', []],
  [
    'id: 3\nretry: 5\n\n: beat\n\ndata: a\n\n',
    [
      { id: '3', type: 'place', data: '' },
      { id: '3', type: 'message', data: 'a' },
    ],
  ],
  ['data: cut off', []],
])('%j', (text, events) => {
  expect(parse([text])).toEqual(events)
})

it('does not care how it is cut, nor how its lines end', () => {
  const text = 'id: 1\ndata: a\n\n: beat\n\nid: 2\nevent: end\ndata: b\ndata: c\n\n'
  const whole = parse([text])
  fc.assert(
    fc.property(
      fc.constantFrom('\n', '\r', '\r\n'),
      fc.array(fc.nat(90), { maxLength: 8 }),
      (ending, places) => {
        const source = text.replaceAll('\n', ending)
        const cuts = [
          0,
          ...places.filter((place) => place < source.length).toSorted((a, b) => a - b),
          source.length,
        ]
        expect(parse(cuts.slice(1).map((end, index) => source.slice(cuts[index], end)))).toEqual(whole)
      },
    ),
  )
})

it('does not keep a line without end', () => {
  const parser = new EventStreamParser()
  expect(() => {
    for (let count = 0; count < 20; count += 1) parser.push('x'.repeat(100_000))
  }).toThrow('a line without an end')
})
