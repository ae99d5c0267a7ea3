import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PhoneCall } from '@botcli/media/phone'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { RunnerFixture, testConfig, until } from '../../packages/runner/src/testing/runner-fixture.ts'
import type { Configuration } from '../../packages/scaffold/src/configuration.ts'
import { configured } from '../../packages/scaffold/src/testing/server-matrix.ts'
import { hears, overWebrtc, overWebsocket } from '../pipecat/conversations.ts'
import { melody } from '../pipecat/melody.ts'
import { MICROPHONE_RATE, spoken } from '../pipecat/microphone.ts'
import { OpenaiDouble, SENTENCES } from '../pipecat/openai-double.ts'
import { withPipecat } from '../pipecat/with-pipecat.ts'
import { generate } from './generated.ts'
import { HttpDouble } from './http-double.ts'

const OPENAI = { stt: 'openai_stt', llm: 'openai_llm', tts: 'openai_tts' } as const
const FEATURES = { recording: true, transcription: true, observability: true } as const
/** What the edges of a window take. */
const EDGE_MS = 200

withPipecat('generated bots', (python) => {
  let folder: string
  let openai: OpenaiDouble
  let collector: HttpDouble
  let runner: RunnerFixture | undefined

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'botcli-talk-'))
    openai = await OpenaiDouble.start()
    collector = await HttpDouble.start((_, response) => response.end())
  })
  afterEach(async () => {
    await runner?.close()
    await openai.close()
    await collector.close()
    await rm(folder, { recursive: true, force: true })
  })

  async function start(
    changes: Partial<Configuration>,
    services = openai.url,
  ): Promise<{ runner: RunnerFixture; server: string }> {
    const server = await generate(folder, configured({ ...OPENAI, ...FEATURES, ...changes }))
    const env = [
      'OPENAI_API_KEY=test',
      `OPENAI_BASE_URL=${services}`,
      `OTEL_EXPORTER_OTLP_ENDPOINT=${collector.url}`,
      '',
    ]
    await writeFile(join(server, '.env'), env.join('\n'))
    const bot = join(server, 'bot.py')
    runner = await RunnerFixture.start(bot, {
      python: { path: python, start: 'fork' },
      env: { ...testConfig(bot).env },
    })
    openai.hear('Tell me a story.')
    return { runner, server }
  }

  it.each([
    ['WebRTC', overWebrtc, {}],
    ["WebRTC by the library's own wires", overWebrtc, { videoInput: true }],
    ["WebSocket by the library's own wires", overWebsocket, { videoInput: true }],
  ])('greet, hear and answer by %s, and keep what was said', async (_, connect, changes) => {
    const { runner, server } = await start({ transports: ['webrtc', 'websocket'], ...changes })
    const caller = await connect(runner)
    try {
      await hears(caller, 'Hello.')
      // Whoever speaks earlier interrupts.
      await until(
        () => caller.messages.some(({ text }) => text.includes('"bot-stopped-speaking"')),
        'the end of the greeting',
      )
      caller.say(await spoken('Please tell me a story about a house.'))
      await hears(caller, 'Then it went on.')
    } finally {
      caller.close()
    }
    await sessionsEnded(runner)
    const { left, right, rate } = await recordingIn(server)
    expect(melody(right, rate).map(({ said }) => said)).toEqual(
      expect.arrayContaining(['Hello.', 'Once upon a time.']),
    )
    expect(melody(right, rate)[0]?.ms).toBeGreaterThanOrEqual(SENTENCES['Hello.'].ms - EDGE_MS)
    expect(left.some((sample) => sample > 1000)).toBe(true)
    for (const line of ['caller: Tell me a story.', 'bot: Hello.', 'Answered after']) {
      expect([line, runner.log.find(line)]).toEqual([line, expect.anything()])
    }
    expect(collector.seen.map(({ path }) => path)).toContain('/v1/traces')
  })

  it('hang up when a service takes no more work, and log why', async () => {
    const services = await HttpDouble.start((_, response) => {
      const error = JSON.stringify({ error: { message: 'this key was withdrawn' } })
      response.writeHead(401, { 'Content-Type': 'application/json' }).end(error)
    })
    try {
      const phone = { botType: 'telephony', transports: ['telephony_a'] } as const
      const { runner } = await start(phone, services.url)
      const url = `${runner.url.replace('http', 'ws')}/ws`
      const script = [{ do: 'silence', ms: 30_000 }] as const
      const call = new PhoneCall({ url, carrier: 'telephony_a', limitMs: 30_000, script })
      expect(await call.ended).toMatchObject({ closed: { by: 'runner' } })
      for (const line of ['this key was withdrawn', 'can no longer do its job']) {
        expect([line, runner.log.find(line)]).toEqual([line, expect.anything()])
      }
    } finally {
      await services.close()
    }
  })

  it('speak at the right speed on the phone', async () => {
    const { runner, server } = await start({ botType: 'telephony', transports: ['telephony_a'] })
    const call = new PhoneCall({
      url: `${runner.url.replace('http', 'ws')}/ws`,
      carrier: 'telephony_a',
      limitMs: 60_000,
      script: [
        { do: 'waitForTurn', limitMs: 30_000 },
        { do: 'say', samples: await spoken('Please tell me a story about a house.'), rate: MICROPHONE_RATE },
        { do: 'waitForVoice', limitMs: 30_000 },
        { do: 'silence', ms: 4000 },
        { do: 'hangUp' },
      ],
    })
    const { heard, coding, violations } = await call.ended
    expect(violations).toEqual([])
    const [hello, story] = melody(heard, coding.rate)
    expect([hello?.said, story?.said]).toEqual(['Hello.', 'Once upon a time.'])
    for (const [sentence, found] of [
      ['Hello.', hello],
      ['Once upon a time.', story],
    ] as const) {
      expect(Math.abs((found?.ms ?? 0) - SENTENCES[sentence].ms)).toBeLessThanOrEqual(EDGE_MS)
    }
    await sessionsEnded(runner)
    expect(melody((await recordingIn(server)).right, 24_000).map(({ said }) => said)).toContain('Hello.')
  })
})

/** Ends what is still there: the library notices only after half a minute that a peer has left. */
async function sessionsEnded(runner: RunnerFixture): Promise<void> {
  const { sessions } = (await (await runner.request('/sessions')).json()) as {
    readonly sessions: readonly { readonly sessionId: string; readonly state: string }[]
  }
  for (const { sessionId, state } of sessions) {
    if (state !== 'ended') await runner.request(`/sessions/${sessionId}`, { method: 'DELETE' })
    await runner.ended(sessionId)
  }
}

/** The one recording of a project, where its README says. */
async function recordingIn(
  server: string,
): Promise<{ readonly left: Int16Array; readonly right: Int16Array; readonly rate: number }> {
  const [name, another] = await readdir(join(server, 'recordings'))
  expect([name, another]).toEqual([expect.stringMatching(/^\d{8}-\d{6}-.+\.wav$/), undefined])
  const wav = await readFile(join(server, 'recordings', name ?? ''))
  expect([wav.readUInt16LE(22), wav.readUInt16LE(34), wav.readUInt32LE(40)]).toEqual([2, 16, wav.length - 44])
  const samples = new Int16Array(wav.buffer.slice(wav.byteOffset + 44, wav.byteOffset + wav.length))
  return {
    left: samples.filter((_, index) => index % 2 === 0),
    right: samples.filter((_, index) => index % 2 === 1),
    rate: wav.readUInt32LE(24),
  }
}
