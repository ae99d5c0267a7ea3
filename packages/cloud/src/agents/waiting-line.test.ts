import { expect, it } from 'vitest'
import { CloudError } from '../errors.ts'
import { WaitingLine } from './waiting-line.ts'

it('serves whoever waits longest, as long as there are places', async () => {
  const line = new WaitingLine<string>()
  const waiting = ['a', 'b', 'c'].map((id) => line.wait(id, 60_000))
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
  const late = line.wait('a', 20)
  const other = line.wait('b', 60_000)
  await expect(late).rejects.toMatchObject({ code: 'DEPLOY-NOT-READY', status: 409 })
  expect(line.length).toBe(1)
  line.serve((id) => id)
  expect(await other).toBe('b')
})
