import { errorBody } from '@botcli/protocol'
import { expect, test } from 'vitest'
import { strangeAnswer } from '../state/problem.ts'
import { connectProblem } from './connect-problem.ts'
import { RunnerApi } from './runner-api.ts'

const RUNNER = new RunnerApi('http://localhost:7860', fetch)

test('a refused offer is told in the words of the runner', async () => {
  const cause = Response.json(errorBody('session_not_found', 'That session is over.'), { status: 404 })
  const problem = await connectProblem(new Error('WebRTC offer rejected', { cause }), RUNNER)
  expect(problem.title).toBe('That session is over.')
})

test('a refused offer without a body still gets words', async () => {
  const cause = new Response('nope', { status: 403 })
  expect((await connectProblem(new Error('x', { cause }), RUNNER)).title).toContain('403')
})

test('a refused WebSocket, our own errors and strange ones each have their words', async () => {
  const refused = new Error('Failed to connect to websocket: 1006')
  expect((await connectProblem(refused, RUNNER)).title).toContain('WebSocket')
  expect((await connectProblem(strangeAnswer('/start', 'wsUrl'), RUNNER)).detail).toContain('wsUrl')
  expect((await connectProblem('odd', RUNNER)).detail).toBe('odd')
})
