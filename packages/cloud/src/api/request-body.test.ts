import { once } from 'node:events'
import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { readJson } from './request-body.ts'

/** Sends the parts of a body and, if they are not all, never the rest; gives the answer. */
async function answerTo(parts: readonly string[], isWhole: boolean): Promise<string> {
  const server = createServer((incoming, outgoing) => {
    readJson(incoming, { maxBytes: 20, limitMs: isWhole ? 45_000 : 200 }).then(
      (value) => outgoing.end(JSON.stringify(value)),
      (error: Error) => outgoing.end(error.message),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const sending = request({ port, host: '127.0.0.1', method: 'POST' })
  onTestFinished(() => {
    sending.destroy()
    server.close()
  })
  for (const part of parts) sending.write(part)
  if (isWhole) sending.end()
  const [answer] = (await once(sending, 'response')) as [IncomingMessage]
  let text = ''
  for await (const part of answer) text += String(part)
  return text
}

it('is read as it comes', async () => {
  expect(await answerTo(['{"a"', ':1}'], true)).toBe('{"a":1}')
})

it('is refused with the reason', async () => {
  expect(await answerTo([], true)).toBe('The request body is not valid: it is empty.')
  expect(await answerTo(['{"a":'], true)).toContain('it is not JSON')
  expect(await answerTo(['"', 'x'.repeat(20), '"'], true)).toBe('The request body is larger than 20 bytes.')
  expect(await answerTo(['{"a":'], false)).toBe(
    'The request body is not valid: it did not arrive within 0.2 s.',
  )
})
