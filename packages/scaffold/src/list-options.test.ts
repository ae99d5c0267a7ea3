import { expect, it } from 'vitest'
import { listOptions } from './list-options.ts'

it('has exactly the keys that are promised, in their order', () => {
  const list = listOptions()
  expect(Object.keys(list)).toEqual(['bot_type', 'transports', 'stt', 'llm', 'tts', 'realtime', 'video'])
  expect(list.bot_type).toEqual(['web', 'telephony'])
  expect(list.transports).toEqual({
    web: ['room', 'webrtc', 'websocket'],
    telephony: [
      'telephony_a',
      'telephony_b',
      'telephony_c',
      'telephony_d',
      'room_pstn',
      'telephony_a_room_sip',
    ],
  })
})

it.each(['stt', 'llm', 'tts', 'realtime', 'video'] as const)('ids of %s end with it', (category) => {
  const ids = listOptions()[category]
  expect(ids.length).toBeGreaterThan(2)
  expect(ids.filter((id) => !/^[a-z0-9_]+$/.test(id) || !id.endsWith(`_${category}`))).toEqual([])
  expect(new Set(ids).size).toBe(ids.length)
})

it('gives the two bare ids of others their ending', () => {
  expect(listOptions().realtime).toEqual(
    expect.arrayContaining(['ultravox_realtime', 'azure_voice_live_realtime']),
  )
})
