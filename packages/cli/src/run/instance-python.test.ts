import { resolve } from 'node:path'
import { PhoneCall } from '@botcli/media/phone'
import type { SessionView } from '@botcli/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { PYTHON_ECHO } from '../../../runner/src/testing/python-runner.ts'
import { until } from '../../../runner/src/testing/runner-fixture.ts'
import { toneShare, WebsocketClient } from '../../../runner/src/testing/websocket-client.ts'
import { folderWith } from '../testing/folder.ts'
import { StartedInstance, type StartedInstanceOptions } from '../testing/started-instance.ts'

const REPOSITORY = resolve(import.meta.dirname, '../../../..')

let instance: StartedInstance
afterEach(() => instance.close())

async function start(bot: string, options?: StartedInstanceOptions): Promise<void> {
  instance = await StartedInstance.start(bot, options)
  await instance.ready()
}

async function expectEcho(): Promise<void> {
  const id = await instance.start({ transport: 'websocket' })
  const client = await WebsocketClient.connect(instance.websocketUrl(`/ws-client?sessionId=${id}`))
  while (client.samples.length < 24_000) await client.sendTone(440, 300)
  expect(toneShare(client.samples, 440, 24_000)).toBeGreaterThan(0.6)
  client.close()
  expect(await instance.over(id)).toMatchObject({ transport: 'websocket', outcome: { cause: 'client_left' } })
}

describe('an instance with a Python bot', () => {
  it.each(['fork', 'spawn'])('takes clients and calls (%s)', async (way) => {
    await start(PYTHON_ECHO, { options: ['--python-start', way] })
    await expectEcho()
    const id = await instance.start({ transport: 'telephony_a' })
    const url = instance.websocketUrl(`/sessions/${id}/ws`)
    const call = new PhoneCall({ url, carrier: 'telephony_a', limitMs: 60_000 })
    await until(async () => {
      const { body } = await instance.ask('GET', `/sessions/${id}`)
      return Number((body as unknown as SessionView).counters?.audioOutMs) > 0
    }, 'the call to be heard')
    await call.close()
    expect(await instance.over(id)).toMatchObject({ transport: 'telephony_a', outcome: { result: 'ok' } })
  })

  it('is what `python bot.py` starts in the cloud, too', async () => {
    const env = {
      BOTCLI_BIN: resolve(REPOSITORY, 'packages/cli/bin/botcli.js'),
      PYTHONPATH: resolve(REPOSITORY, 'python/src'),
    }
    const command = ['python3', PYTHON_ECHO, '--host', '0.0.0.0', '--port', '7860'] as const
    await start(PYTHON_ECHO, { command, env })
    await expectEcho()
  })

  it('has the words of a bot that fails in the middle before the end of its session', async () => {
    const source =
      'async def bot(args):\n    print("so far", flush=True)\n    raise ValueError("no further")\n'
    await start(await folderWith({ 'bot.py': source }))
    const id = await instance.start({ transport: 'websocket' })
    const client = new WebsocketClient(instance.websocketUrl(`/ws-client?sessionId=${id}`))
    expect(await client.whenClosed()).toMatchObject({ code: 1011 })
    expect(await instance.over(id)).toMatchObject({ outcome: { result: 'failed', cause: 'bot_failed' } })
    const own = instance.records().filter((record) => JSON.stringify(record).includes(id))
    const words = own.map((record) => (record.type === 'log' ? record.line.msg : record.type)).join('\n')
    expect(words).toMatch(/so far[\s\S]*Traceback[\s\S]*ValueError: no further[\s\S]*\nsession$/)
  })
})
