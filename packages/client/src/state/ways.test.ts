import { expect, test } from 'vitest'
import { readyCount, waysFrom } from './ways.ts'

const COMMAND = { kind: 'command', label: 'Call it', text: 'botcli call' }
const PHONE = { id: 'telephony_a', label: 'Phone', state: 'ready', notes: ['more'], steps: [COMMAND] }
const ROOM = {
  id: 'room',
  label: 'Room',
  state: 'needs',
  needs: { what: 'A_KEY', how: 'Set A_KEY.' },
  steps: [],
}

test('ways are read as the runner writes them', () => {
  expect(waysFrom([PHONE, ROOM])).toEqual([
    { id: 'telephony_a', label: 'Phone', needs: undefined, notes: ['more'], steps: [COMMAND] },
    { id: 'room', label: 'Room', needs: ROOM.needs, notes: [], steps: [] },
  ])
})

test.each([undefined, null, 'ways', {}, [null, 7, {}, { id: 'a' }, { label: 'a' }]])(
  'what is no way is left out: %j',
  (value) => {
    expect(waysFrom(value)).toEqual([])
  },
)

test('steps that cannot be shown are left out, and so are links that lead to no page', () => {
  const link = { kind: 'link', label: 'Open', text: 'https://a.example/daily' }
  const strange = [
    { ...COMMAND, kind: 'dance' },
    { ...COMMAND, text: '' },
    null,
    { ...link, text: 'javascript:alert(1)' },
  ]
  expect(waysFrom([{ ...PHONE, steps: [...strange, link, COMMAND] }])[0]?.steps).toEqual([link, COMMAND])
  expect(waysFrom([{ ...PHONE, steps: 'none' }])[0]?.steps).toEqual([])
})

test('it is counted what is ready', () => {
  expect(readyCount(waysFrom([PHONE]))).toBe('1')
  expect(readyCount(waysFrom([PHONE, ROOM]))).toBe('1 of 2')
})
