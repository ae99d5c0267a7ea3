import { expect, it } from 'vitest'
import { CloudError } from '../errors.ts'
import { notInTime } from './place-refusal.ts'
import { WaitingLine } from './waiting-line.ts'

const PATIENT = {
  limitMs: 60_000,
  tooLate: () => notInTime(60_000),
  gone: new AbortController().signal,
}

it('serves whoever waits longest, as long as there are places', async () => {
  const line = new WaitingLine<string>()
  const waiting = ['a', 'b', 'c'].map((id) => line.wait(id, PATIENT))
  const places = ['first', 'second']
  line.serve((id) => {
    const place = places.shift()
    return place && `${place} for ${id}`
  })
  expect(await Promise.all(waiting.slice(0, 2))).toEqual(['first for a', 'second for b'])
  expect(line.length).toBe(1)
  line.refuse(new CloudError('UNAVAILABLE', 'no more'))
  await expect(waiting[2]).rejects.toThrow('no more')
  expect(line.length).toBe(0)
})

it('lets nobody wait for ever', async () => {
  const line = new WaitingLine<string>()
  const late = line.wait('a', { ...PATIENT, limitMs: 20 })
  const other = line.wait('b', PATIENT)
  await expect(late).rejects.toMatchObject({ code: 'DEPLOY-NOT-READY', status: 409 })
  expect(line.length).toBe(1)
  line.serve((id) => id)
  expect(await other).toBe('b')
})

it('forgets a caller that has left', async () => {
  const line = new WaitingLine<string>()
  const leaving = new AbortController()
  const left = line.wait('a', { ...PATIENT, gone: leaving.signal })
  const other = line.wait('b', PATIENT)
  leaving.abort()
  await expect(left).rejects.toThrow('left')
  line.serve((id) => id)
  expect(await other).toBe('b')
  await expect(line.wait('c', { ...PATIENT, gone: leaving.signal })).rejects.toThrow('left')
  expect(line.length).toBe(0)
})
