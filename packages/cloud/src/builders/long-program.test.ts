import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { until } from '../testing/cloud-fixture.ts'
import { processesWith } from './limits/processes.ts'
import { runLongProgram } from './long-program.ts'

const MINUTE_MS = 60_000

/** A program that starts another one, which holds its output open, and waits for it. */
const PARENT = ['sh', '-c', 'echo begun; sleep 1000 & wait']

it('gives the answer of a program', async () => {
  const { signal } = new AbortController()
  const argv = ['sh', '-c', 'echo "$WORD"; echo no >&2; exit 3']
  const env = { WORD: 'yes' }
  expect(await runLongProgram(argv, { timeoutMs: MINUTE_MS, env, signal })).toEqual({
    ...{ status: 3, stdout: 'yes\n', stderr: 'no\n' },
  })
})

it('says why a program could not be started', async () => {
  const { signal } = new AbortController()
  const answer = await runLongProgram(['/no/such/program'], { timeoutMs: MINUTE_MS, env: {}, signal })
  expect(answer).toMatchObject({ status: undefined, stderr: expect.stringContaining('ENOENT') })
})

it.skipIf(process.platform !== 'linux')(
  'kills one that is not wanted any more, with all that it has started',
  async () => {
    const id = randomUUID()
    const unwanted = new AbortController()
    const options = { timeoutMs: MINUTE_MS, env: { BOTCLI_TEST: id }, signal: unwanted.signal }
    const answer = runLongProgram(PARENT, options)
    const mark = `BOTCLI_TEST=${id}`
    await until(async () => (await processesWith(mark)).length === 2, 'both programs')
    unwanted.abort()
    expect(await answer).toMatchObject({ status: undefined, stderr: 'It is not wanted any more.' })
    await until(async () => (await processesWith(mark)).length === 0, 'both to be gone')
  },
)

it.skipIf(process.platform !== 'linux')('kills one that takes too long', async () => {
  const id = randomUUID()
  const { signal } = new AbortController()
  const answer = await runLongProgram(PARENT, { timeoutMs: 500, env: { BOTCLI_TEST: id }, signal })
  expect(answer).toMatchObject({ status: undefined, stderr: 'It took longer than 0.5 seconds.' })
  await until(async () => (await processesWith(`BOTCLI_TEST=${id}`)).length === 0, 'it to be gone')
})

it('starts nothing that is not wanted', async () => {
  let started = 0
  const counted = ((...args: Parameters<typeof spawn>) => {
    started += 1
    return spawn(...args)
  }) as typeof spawn
  const options = { timeoutMs: MINUTE_MS, env: {}, signal: AbortSignal.abort(), spawn: counted }
  expect(await runLongProgram(['true'], options)).toMatchObject({ status: undefined })
  expect(started).toBe(0)
})
