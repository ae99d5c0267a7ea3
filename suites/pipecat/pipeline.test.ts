import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Conversation, hears, overWebrtc, overWebsocket } from './conversations.ts'
import { House } from './house.ts'
import { spoken } from './microphone.ts'
import { withPipecat } from './with-pipecat.ts'

/** The sound of each sentence lasts so long, less what the edges of a window take. */
const WHOLE_MS = 2800

withPipecat('a pipeline of pipecat-ai on our transport', (python) => {
  let house: House
  let question: Int16Array
  let objection: Int16Array

  beforeAll(async () => {
    house = await House.start(python, 'pipeline_bot.py')
    question = await spoken('Please tell me a story about a house.')
    objection = await spoken('Stop that, please. It is enough for today.')
  })
  afterAll(() => house?.close())

  it.each([
    ['the plain WebSocket', overWebsocket],
    ['WebRTC', overWebrtc],
  ])('hears speech and answers it, and lets itself be interrupted, over %s', async (_, connect) => {
    house.openai.hear('Tell me a story.')
    const caller = await connect(house.runner)
    try {
      await hears(caller, 'Hello.')
      caller.say(question)
      await hears(caller, 'Then it went on.')
      house.openai.hear('Stop.')
      caller.say(objection)
      await hears(caller, 'All right.')

      const said = caller.heard.map(({ said }) => said)
      expect(said).toEqual(['Hello.', 'Once upon a time.', 'Then it went on.', 'All right.'])
      expect(caller.heard[1]?.ms).toBeGreaterThanOrEqual(WHOLE_MS)
      expect(caller.heard[2]?.ms).toBeLessThan(WHOLE_MS)
      expect(Math.max(...house.openai.transcribed)).toBeGreaterThan(1000)
      expectTalk(caller)
    } finally {
      caller.close()
    }
  })

  it('says that it has stopped when the caller has heard the last of it', async () => {
    const caller = await overWebsocket(house.runner)
    try {
      await hears(caller, 'Hello.')
      const stopped = await message(caller, 'bot-stopped-speaking')
      expect(stopped.heard).toEqual([{ said: 'Hello.', ms: expect.any(Number) }])
      expect(stopped.heard[0]?.ms).toBeGreaterThanOrEqual(600)
    } finally {
      caller.close()
    }
  })

  it('ends with its caller, and says so in the log', async () => {
    const caller = await overWebsocket(house.runner)
    await hears(caller, 'Hello.')
    const { sessions } = (await (await house.runner.request('/sessions')).json()) as {
      sessions: readonly { readonly sessionId: string; readonly state: string }[]
    }
    const { sessionId } = sessions.find(({ state }) => state === 'active') ?? { sessionId: '' }
    caller.close()
    expect(await house.runner.ended(sessionId)).toMatchObject({
      outcome: { result: 'ok', cause: 'client_left' },
    })
  })
})

/** What a client shows of the talk came by messages. */
function expectTalk(caller: Conversation): void {
  const types = caller.messages.map(({ text }) => (JSON.parse(text) as { type: string }).type)
  for (const type of ['bot-ready', 'user-transcription', 'bot-started-speaking', 'user-started-speaking']) {
    expect(types).toContain(type)
  }
}

async function message(caller: Conversation, type: string): Promise<Conversation['messages'][number]> {
  for (;;) {
    const found = caller.messages.find(({ text }) => (JSON.parse(text) as { type: string }).type === type)
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}
