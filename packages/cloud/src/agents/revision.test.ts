import { expect, it } from 'vitest'
import { sampleAgent } from '../testing/agent-store-conformance.ts'
import { Revision } from './revision.ts'

it('says that it cannot start until it was tried in vain a while ago and nobody has needed it since', async () => {
  let now = 0
  const { deployment } = sampleAgent({ organizationId: 'org' })
  const counts = { started: 0, restarts: 0 }
  const stored = { ...deployment, number: 1, secretsVersion: 0, failure: null, counts, updatedAt: 10 }
  const revision = new Revision({ ...stored, phase: 'Active', phaseStartedAt: 10 }, () => now)
  await revision.starts(Promise.reject(new Error('the registry does not answer')))
  expect(revision.downReason).toBe('StartFailed')
  expect(revision.info().health).toMatchObject({ message: 'the registry does not answer' })
  now = 59_000
  expect(revision.downReason).toBe('StartFailed')
  now = 61_000
  expect(revision.downReason).toBeUndefined()
  expect(revision.info().health).toMatchObject({ reason: null, message: null })
  let become: (nothing: undefined) => void = () => {}
  const again = revision.starts(
    new Promise((resolve) => {
      become = resolve
    }),
  )
  expect(revision.downReason).toBe('StartFailed')
  become(undefined)
  await again
})
