import { getEventListeners } from 'node:events'
import { expect, it } from 'vitest'
import { unlessAborted } from './unless-aborted.ts'

it('gives what it waits for, and leaves no listener', async () => {
  const { signal } = new AbortController()
  expect(await unlessAborted(signal, async () => 1)).toBe(1)
  await expect(unlessAborted(signal, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

it('waits no longer than until the signal, and begins nothing after it', async () => {
  const controller = new AbortController()
  const waiting = unlessAborted(controller.signal, () => new Promise(() => {}))
  controller.abort(new Error('called off'))
  await expect(waiting).rejects.toThrow('called off')
  let hasBegun = false
  const late = unlessAborted(controller.signal, async () => {
    hasBegun = true
  })
  await expect(late).rejects.toThrow('called off')
  expect(hasBegun).toBe(false)
})
