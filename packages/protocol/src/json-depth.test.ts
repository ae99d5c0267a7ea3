import { describe, expect, it } from 'vitest'
import { isShallow, MAX_JSON_DEPTH } from './json-depth.ts'
import { guestMessageSchema } from './link/messages.ts'
import { offerRequestSchema } from './offer.ts'
import { startRequestSchema } from './start.ts'

/** JSON of so many arrays within each other, as a hostile peer would send it. */
function nested(levels: number): unknown {
  return JSON.parse('['.repeat(levels) + ']'.repeat(levels))
}

describe('nested JSON', () => {
  it('is shallow up to the limit', () => {
    expect(isShallow(nested(MAX_JSON_DEPTH))).toBe(true)
    expect(isShallow(nested(MAX_JSON_DEPTH + 1))).toBe(false)
    expect(isShallow({ a: [1, 'x', null, { b: nested(MAX_JSON_DEPTH) }] })).toBe(false)
    expect(isShallow(undefined)).toBe(true)
  })

  it('is looked at without using up the stack', () => {
    const deep = nested(400_000)
    expect(() => JSON.stringify(deep)).toThrow(RangeError)
    expect(isShallow(deep)).toBe(false)
  })

  it('is refused wherever it would be handed on', () => {
    const deep = nested(10_000)
    for (const parsed of [
      guestMessageSchema.safeParse({ type: 'message', data: deep }),
      startRequestSchema.safeParse({ body: { deep } }),
      offerRequestSchema.safeParse({ type: 'offer', sdp: '', requestData: { deep } }),
    ]) {
      expect(parsed.error?.message).toContain('nested deeper')
    }
  })

  it('leaves a message without data what it was: not a message', () => {
    expect(guestMessageSchema.safeParse({ type: 'message' }).success).toBe(false)
    expect(guestMessageSchema.safeParse({ type: 'message', data: null }).success).toBe(true)
  })
})
