import { describe, expect, it } from 'vitest'
import { Hearing } from './hearing.ts'

const frame = (capturedAt: number) => ({ samples: new Int16Array(320), sampleRate: 16_000, capturedAt })

describe('the sound for a bot', () => {
  it('is confirmed as the fastest reader takes it, and a reader that stands still loses its oldest', async () => {
    const confirmed: number[] = []
    const hearing = new Hearing((frames) => confirmed.push(frames))
    const idle = hearing.read()
    const first = idle.next()
    hearing.add(frame(0))
    await first
    const eager = hearing.read()
    for (let at = 1; at <= 200; at += 1) {
      const next = eager.next()
      hearing.add(frame(at))
      expect((await next).value?.capturedAt).toBe(at)
    }
    expect(confirmed.at(-1)).toBeGreaterThanOrEqual(195)
    expect((await idle.next()).value?.capturedAt).toBe(200 - 128 + 1)
  })

  it('is not confirmed while nobody takes it', async () => {
    const confirmed: number[] = []
    const hearing = new Hearing((frames) => confirmed.push(frames))
    const reader = hearing.read()
    const first = reader.next()
    for (let at = 0; at < 30; at += 1) hearing.add(frame(at))
    await first
    expect(confirmed.at(-1) ?? 0).toBeLessThanOrEqual(5)
  })
})
