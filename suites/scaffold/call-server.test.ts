import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Configuration } from '../../packages/scaffold/src/configuration.ts'
import { configured } from '../../packages/scaffold/src/testing/server-matrix.ts'
import { withPipecat } from '../pipecat/with-pipecat.ts'
import { generate } from './generated.ts'
import { HttpDouble } from './http-double.ts'

const run = promisify(execFile)
const PYTHON_PACKAGE = join(import.meta.dirname, '../../python/src')
const START_LIMIT_MS = 20_000
const TOKEN = 'carrier-token'

let folder: string
let runner: HttpDouble
let status: number
let child: ChildProcess | undefined
beforeEach(async () => {
  status = 200
  folder = await mkdtemp(join(tmpdir(), 'botcli-calls-'))
  runner = await HttpDouble.start((_, response) => {
    response.writeHead(status, { 'Content-Type': 'application/json' })
    response.end(
      JSON.stringify({ roomUrl: 'https://rooms/one', roomToken: 'secret', sessionId: 'session-1' }),
    )
  })
})
afterEach(async () => {
  if (child?.exitCode === null) {
    child.kill()
    await once(child, 'exit')
  }
  await runner.close()
  await rm(folder, { recursive: true, force: true })
})

withPipecat('generated call servers', (python) => {
  async function start(changes: Partial<Configuration>, env: Record<string, string> = {}): Promise<string> {
    const server = await generate(folder, configured({ botType: 'telephony', ...changes }))
    const port = await freePort()
    child = spawn(python, ['server.py'], {
      cwd: server,
      env: {
        PATH: process.env.PATH,
        PYTHONPATH: PYTHON_PACKAGE,
        BOT_START_URL: `${runner.url}/start`,
        CALL_SERVER_PORT: String(port),
        CALL_SERVER_HOST: '127.0.0.1',
        ...env,
      },
      stdio: 'ignore',
    })
    const url = `http://127.0.0.1:${port}`
    const deadline = Date.now() + START_LIMIT_MS
    while (Date.now() < deadline) {
      const answer = await fetch(`${url}/health`).catch(() => undefined)
      if (answer?.ok) return url
      await sleep(100)
    }
    throw new Error('the call server does not answer')
  }

  const post = (url: string, body: string, headers: Record<string, string> = {}) =>
    fetch(url, { method: 'POST', body, headers: { 'Content-Type': 'application/json', ...headers } })

  it('start calls to phone numbers', async () => {
    const url = await start({ transports: ['room_pstn'], pstnMode: 'dial-out' }, { BOT_START_KEY: 'pk_1' })
    const answer = await post(`${url}/dialout`, '{"phone_number":"+15551234567","caller_id":"number-1"}')
    expect([answer.status, await answer.json()]).toEqual([200, { status: 'calling', sessionId: 'session-1' }])
    const settings = { phone_number: '+15551234567', caller_id: 'number-1' }
    expect(runner.seen).toEqual([
      {
        path: '/start',
        authorization: 'Bearer pk_1',
        body: {
          transport: 'room',
          createRoom: true,
          roomProperties: { start_video_off: true, enable_dialout: true },
          body: { dialout_settings: settings },
        },
      },
    ])
    const nested = JSON.stringify({ dialout_settings: settings })
    expect((await post(`${url}/dialout`, nested)).status).toBe(200)
    for (const body of [
      '',
      '[]',
      '{}',
      '{"phone_number":5}',
      '{"phone_number":"0123"}',
      '{"dialout_settings":7}',
    ]) {
      expect([body, (await post(`${url}/dialout`, body)).status]).toEqual([body, 400])
    }
    expect(runner.seen).toHaveLength(2)
    status = 501
    const refused = await post(`${url}/dialout`, '{"phone_number":"+15551234567"}')
    expect([refused.status, await refused.text()]).toEqual([502, expect.stringContaining('501')])
  })

  it('start calls to SIP addresses, for those who know the token', async () => {
    const url = await start(
      { transports: ['telephony_a_room_sip'], sipMode: 'dial-out' },
      { DIALOUT_TOKEN: 'word' },
    )
    const body = '{"sip_uri":"sip:+15551234567@my-domain.sip.twilio.com"}'
    expect((await post(`${url}/dialout`, body)).status).toBe(401)
    expect((await post(`${url}/dialout`, body, { Authorization: 'Bearer wörd' })).status).toBe(401)
    expect(runner.seen).toEqual([])
    const known = { Authorization: 'Bearer word' }
    expect((await post(`${url}/dialout`, body, known)).status).toBe(200)
    expect((await post(`${url}/dialout`, '{"sip_uri":"+15551234567"}', known)).status).toBe(400)
    expect(runner.seen).toMatchObject([{ body: { body: { dialout_settings: JSON.parse(body) } } }])
  })

  it('say in one sentence why they do not start', async () => {
    const dialIn = { transports: ['telephony_a_room_sip'], sipMode: 'dial-in' } as const
    const server = await generate(folder, configured({ botType: 'telephony', ...dialIn }))
    const taken = new URL(runner.url).port
    const fails = async (env: Record<string, string>) => {
      const options = { cwd: server, env: { PATH: process.env.PATH, PYTHONPATH: PYTHON_PACKAGE, ...env } }
      const { code, stderr } = await run(python, ['server.py'], options).catch((error) => error)
      expect(code).toBe(1)
      return stderr.trim()
    }
    const keys = { TELEPHONY_A_AUTH_TOKEN: TOKEN, BOT_START_URL: runner.url }
    const there = { CALL_SERVER_HOST: '127.0.0.1', CALL_SERVER_PORT: taken }
    expect(await fails({ ...keys, ...there })).toMatch(
      new RegExp(
        `^cannot listen on 127\\.0\\.0\\.1, port ${taken}; CALL_SERVER_PORT takes another: .*in use$`,
      ),
    )
    expect(await fails({ ...keys, CALL_SERVER_PORT: 'high' })).toMatch(/^cannot listen on .*'high'$/)
    // Where the bot runs elsewhere, its keys are not needed here.
    expect(await fails({ ...keys, TELEPHONY_A_AUTH_TOKEN: '' })).toMatch(
      /^these variables are not set: TELEPHONY_A_AUTH_TOKEN\. .*$/,
    )
    expect(await fails({ TELEPHONY_A_AUTH_TOKEN: TOKEN })).toMatch(
      /^these variables are not set: DEEPGRAM_API_KEY, .*ROOM_API_KEY, TELEPHONY_A_ACCOUNT_ID\. .*$/,
    )
  })

  it('take calls that the carrier has signed, and no others', async () => {
    const url = await start(
      { transports: ['telephony_a_room_sip'], sipMode: 'dial-in' },
      { TELEPHONY_A_AUTH_TOKEN: TOKEN },
    )
    const fields = { To: '+15550002222', From: '+15550001111', CallSid: 'CA1', Empty: '' }
    const signed = (path: string, values: Record<string, string>) => {
      const text = Object.keys(values)
        .sort()
        .map((name) => `${name}${values[name]}`)
        .join('')
      const address = `https://${new URL(url).host}${path}`
      return createHmac('sha1', TOKEN).update(`${address}${text}`).digest('base64')
    }
    const call = (values: Record<string, string>, signature: string) =>
      post(`${url}/call`, new URLSearchParams(values).toString(), {
        'Content-Type': 'application/x-www-form-urlencoded',
        'X-Twilio-Signature': signature,
      })
    expect((await call(fields, 'wröng')).status).toBe(403)
    expect((await call({ ...fields, CallSid: 'CA2' }, signed('/call', fields))).status).toBe(403)
    expect((await call({ From: '1' }, signed('/call', { From: '1' }))).status).toBe(400)
    expect(runner.seen).toEqual([])
    const answer = await call(fields, signed('/call', fields))
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/xml; charset=utf-8'])
    expect(await answer.text()).toMatch(/^<Response>.*<Pause length="60"\/><\/Response>$/)
    expect(runner.seen).toMatchObject([
      {
        body: {
          roomProperties: { sip: { display_name: '+15550001111', sip_mode: 'dial-in', num_endpoints: 1 } },
          body: { call_sid: 'CA1', from: '+15550001111', to: '+15550002222' },
        },
      },
    ])
  })
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
