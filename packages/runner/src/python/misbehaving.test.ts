import { CARRIER_IDS } from '@botcli/protocol'
import { describe } from 'vitest'
import { dialSocket } from '../testing/callers.ts'
import { itSurvivesMisbehaviour } from '../testing/python-misbehaviours.ts'

describe('a WebSocket client and a caller of each carrier, with a Python bot', () => {
  itSurvivesMisbehaviour({
    transports: ['websocket', ...CARRIER_IDS],
    dial: () => dialSocket,
  })
})
