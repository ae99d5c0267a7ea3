import { describe, expect, it } from 'vitest'
import { nearest } from './nearest.ts'

describe('nearest', () => {
  const known = ['deepgram_stt', 'deepgram_flux_stt', 'openai_stt', 'webrtc', 'allowed-origins', 'warm']
  it.each([
    ['deepgrm_stt', 'deepgram_stt'],
    ['Deepgram-STT', 'deepgram_stt'],
    ['deepgram', 'deepgram_stt'],
    ['openai', 'openai_stt'],
    ['webrct', 'webrtc'],
    ['allowed_origin', 'allowed-origins'],
    ['worm', 'warm'],
  ])('%s means %s', (word, meant) => {
    expect(nearest(word, known)).toBe(meant)
  })

  it.each([[''], ['banana'], ['x'], ['x'.repeat(10_000)]])('has no idea what word %# means', (word) => {
    expect(nearest(word, known)).toBeUndefined()
  })
})
