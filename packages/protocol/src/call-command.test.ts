import { expect, it } from 'vitest'
import { callCommand } from './call-command.ts'

it.each([
  ['http://localhost:7860', undefined, 'botcli call --as telephony_a'],
  ['http://localhost:8000', undefined, 'botcli call http://localhost:8000 --as telephony_a'],
  ['http://[::1]:7860', undefined, "botcli call 'http://[::1]:7860' --as telephony_a"],
  ['http://localhost:7860', 'https://a.example', 'botcli call --as telephony_a --origin https://a.example'],
])('calls %s as %s', (url, origin, command) => {
  expect(callCommand('telephony_a', { command: 'botcli', url, origin })).toBe(command)
})
