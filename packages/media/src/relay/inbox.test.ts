import type { SocketMessage } from '@botcli/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Inbox } from './inbox.ts'

const MIB = 1024 * 1024

describe('the inbox of a bot', () => {
  it('keeps what comes before the bot, and is full in time', () => {
    const inbox = new Inbox()
    for (let count = 0; count < 99; count += 1) inbox.push(`${count}`, 2)
    expect(inbox.full).toBe(false)
    inbox.push('99', 2)
    expect(inbox.full).toBe(true)
    const sent: SocketMessage[] = []
    inbox.open((data) => sent.push(data))
    expect(sent).toHaveLength(100)
    expect([inbox.full, inbox.empty]).toEqual([true, true])
    expect(inbox.confirm(1)).toBe(true)
    expect(inbox.full).toBe(false)
  })

  it('sends the largest messages one at a time', () => {
    const inbox = new Inbox()
    const sent: SocketMessage[] = []
    inbox.open((data) => sent.push(data))
    for (const name of ['one', 'two', 'three']) inbox.push(name, MIB)
    expect(sent).toEqual(['one'])
    inbox.confirm(1)
    expect(sent).toEqual(['one', 'two'])
    expect(inbox.full).toBe(true)
    inbox.confirm(2)
    inbox.confirm(3)
    expect(sent).toEqual(['one', 'two', 'three'])
    expect([inbox.full, inbox.empty]).toEqual([false, true])
  })

  it('does not believe that more was taken than was sent, and ignores what was said before', () => {
    const inbox = new Inbox()
    inbox.open(() => {})
    inbox.push('one', 3)
    expect(inbox.confirm(2)).toBe(false)
    expect(inbox.confirm(1)).toBe(true)
    expect(inbox.confirm(0)).toBe(true)
    expect(inbox.confirm(1)).toBe(true)
  })

  it('loses nothing, keeps the order and its limits, whatever comes and goes', () => {
    const step = fc.oneof(
      fc.record({ push: fc.nat(MIB) }),
      fc.record({ confirm: fc.integer({ min: 1, max: 40 }) }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const inbox = new Inbox()
        const sizes: number[] = []
        const sent: number[] = []
        let confirmed = 0
        inbox.open((data) => sent.push(Number(data)))
        for (const one of steps) {
          if ('push' in one) inbox.push(`${sizes.push(one.push) - 1}`, one.push)
          else {
            confirmed = Math.min(sent.length, confirmed + one.confirm)
            expect(inbox.confirm(confirmed)).toBe(true)
          }
          const unconfirmed = sent.slice(confirmed).map((index) => sizes[index] ?? 0)
          const bytes = unconfirmed.reduce((sum, size) => sum + size, 0)
          expect(unconfirmed.length).toBeLessThanOrEqual(100)
          if (unconfirmed.length > 1) expect(bytes).toBeLessThanOrEqual(MIB)
        }
        while (confirmed < sizes.length) {
          confirmed = sent.length
          inbox.confirm(confirmed)
        }
        expect(sent).toEqual(sizes.map((_, index) => index))
      }),
    )
  })
})
