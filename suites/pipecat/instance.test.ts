import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { StartedInstance } from '../../packages/cli/src/testing/started-instance.ts'
import { withPipecat } from './with-pipecat.ts'

const BOT = join(import.meta.dirname, 'bots/repeating_bot.py')
const CALL = [
  { event: 'connected', protocol: 'Call', version: '1.0.0' },
  {
    event: 'start',
    sequenceNumber: '1',
    streamSid: 'MZ1',
    start: {
      accountSid: 'AC1',
      streamSid: 'MZ1',
      callSid: 'CA1',
      tracks: ['inbound'],
      mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
      customParameters: {},
    },
  },
].map((message) => JSON.stringify(message))

withPipecat('an instance of the cloud with a bot that was written for the runner of pipecat-ai', (python) => {
  let instance: StartedInstance
  beforeAll(async () => {
    instance = await StartedInstance.start(BOT, { options: ['--python', python] })
    await instance.ready()
  })
  afterAll(() => instance?.close())

  it.each([
    ['websocket', (id: string) => `/ws-client?sessionId=${id}`, ['hello']],
    ['telephony_a', (id: string) => `/sessions/${id}/ws`, CALL],
  ] as const)('lets it speak the wire of its caller itself (%s)', async (transport, path, messages) => {
    const id = await instance.start({ transport })
    const headers = { 'X-Forwarded-For': '203.0.113.9' }
    const socket = new WebSocket(instance.websocketUrl(path(id)), { headers })
    socket.on('open', () => {
      for (const message of messages) socket.send(message)
    })
    const heard = await new Promise((resolve, reject) => {
      socket.once('message', (data) => resolve(String(data)))
      socket.once('close', (code, reason) => reject(new Error(`closed with ${code}: ${reason}`)))
    })
    expect(heard).toBe(messages[0])
    socket.close()
    expect(await instance.over(id)).toMatchObject({ transport, outcome: { cause: 'client_left' } })
    const said = instance.lines().filter(({ sessionId, from }) => sessionId === id && from === 'bot')
    expect(said.map(({ msg }) => msg)).toEqual(['called from 203.0.113.9', 'alone'])
  })
})
