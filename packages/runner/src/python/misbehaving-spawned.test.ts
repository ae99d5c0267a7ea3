import { describe } from 'vitest'
import { dialSocket } from '../testing/callers.ts'
import { itSurvivesMisbehaviour } from '../testing/python-misbehaviours.ts'

describe('a WebSocket client with a spawned Python bot', () => {
  itSurvivesMisbehaviour({
    transports: ['websocket'],
    dial: () => dialSocket,
    config: { python: { start: 'spawn' } },
    brief: true,
  })
})
