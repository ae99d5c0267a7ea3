import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Configuration } from '../../packages/scaffold/src/configuration.ts'
import { envVariables } from '../../packages/scaffold/src/server/index.ts'
import { configured } from '../../packages/scaffold/src/testing/server-matrix.ts'
import { withPipecat } from '../pipecat/with-pipecat.ts'
import { generate } from './generated.ts'
import { HttpDouble } from './http-double.ts'

const PYTHON_PACKAGE = join(import.meta.dirname, '../../python/src')
const PSTN = { transports: ['room_pstn'], pstnMode: 'dial-out' } as const
const SIP = { transports: ['telephony_a_room_sip'], sipMode: 'dial-out' } as const

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'botcli-flows-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

withPipecat('call flows of generated bots', (python) => {
  async function play(changes: Partial<Configuration>, task: object, more = {}): Promise<unknown> {
    const configuration = configured({ botType: 'telephony', ...changes })
    const server = await generate(folder, configuration)
    const keys = envVariables(configuration).map(({ name, required }) => [name, required ? 'test' : ''])
    return new Promise((resolve, reject) => {
      const child = execFile(
        python,
        [join(import.meta.dirname, 'calls.py')],
        { env: { PATH: process.env.PATH, PYTHONPATH: PYTHON_PACKAGE, ...Object.fromEntries(keys), ...more } },
        (error, stdout) => (error === null ? resolve(JSON.parse(stdout)) : reject(error)),
      )
      child.stdin?.end(JSON.stringify({ folder: server, ...task }))
    })
  }

  it.each([
    [PSTN, { phone_number: '+15551234567' }, { phoneNumber: '+15551234567' }],
    [
      PSTN,
      { phone_number: '+15551234567', caller_id: 'id' },
      { phoneNumber: '+15551234567', callerId: 'id' },
    ],
    [SIP, { sip_uri: 'sip:me@home' }, { sipUri: 'sip:me@home' }],
  ])('call again when nobody is reached, and end with the call', async (kind, settings, target) => {
    const body = { dialout_settings: settings }
    const events = ['on_joined', 'on_dialout_error', 'on_dialout_answered', 'on_dialout_stopped']
    expect(await play(kind, { body, answers: ['busy'], events })).toEqual({
      dialled: [target, target, target],
      cancelled: [0, 0, 0, 1],
    })
  })

  it('give up after five attempts, and at once when an answered call fails', async () => {
    const body = { dialout_settings: { phone_number: '+15551234567' } }
    const nobody = { body, answers: Array(9).fill('busy'), events: ['on_joined'] }
    const target = { phoneNumber: '+15551234567' }
    expect(await play(PSTN, nobody)).toEqual({ dialled: Array(5).fill(target), cancelled: [1] })
    const events = ['on_joined', 'on_dialout_answered', 'on_dialout_error']
    expect(await play(PSTN, { body, answers: [], events })).toEqual({
      dialled: [target],
      cancelled: [0, 0, 1],
    })
  })

  it('have the carrier put a waiting call through to the room', async () => {
    const carrier = await HttpDouble.start((_, response) => response.end('{}'))
    try {
      const kind = { transports: ['telephony_a_room_sip'], sipMode: 'dial-in' } as const
      const api = { TELEPHONY_A_API_URL: carrier.url, TELEPHONY_A_ACCOUNT_ID: 'AC1' }
      await play(kind, { call: ['CA7', '123&4@sip.rooms'] }, api)
      expect(carrier.seen).toEqual([
        {
          path: '/Accounts/AC1/Calls/CA7.json',
          authorization: `Basic ${Buffer.from('AC1:test').toString('base64')}`,
          body: expect.stringMatching(/^Twiml=/),
        },
      ])
      expect(new URLSearchParams(String(carrier.seen[0]?.body)).get('Twiml')).toBe(
        '<Response><Dial><Sip>sip:123&amp;4@sip.rooms</Sip></Dial></Response>',
      )
    } finally {
      await carrier.close()
    }
  })
})
