import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { RunnerFixture, testConfig } from '../../packages/runner/src/testing/runner-fixture.ts'
import { configured } from '../../packages/scaffold/src/testing/server-matrix.ts'
import { withPipecat } from '../pipecat/with-pipecat.ts'
import { generate } from './generated.ts'
import { asModel, HttpDouble } from './http-double.ts'

const run = promisify(execFile)
/** One grey pixel. */
const PICTURE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=='
const SCENARIO = `name: looks
scenarios:
  - name: sees
    turns:
      - expect:
          - event: response
            within_ms: 30000
      - user: "What do I hold in my hand?"
        image: picture.png
        expect:
          - event: function_call
            name: look
          - event: response
            within_ms: 30000
            text_contains: "I see it"
`

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'botcli-look-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

withPipecat('generated bots with a camera', (python) => {
  it('show their language model what it wants to see', async () => {
    const model = await HttpDouble.start(curious)
    const server = await generate(
      folder,
      configured({ stt: 'openai_stt', tts: 'openai_tts', videoInput: true, evals: true }),
    )
    await writeFile(join(server, '.env'), `OPENAI_API_KEY=test\nOPENAI_BASE_URL=${model.url}\n`)
    await writeFile(join(folder, 'looks.yaml'), SCENARIO)
    await writeFile(join(folder, 'picture.png'), Buffer.from(PICTURE, 'base64'))
    const bot = join(server, 'bot.py')
    const runner = await RunnerFixture.start(bot, {
      python: { path: python, start: 'fork' },
      env: { ...testConfig(bot).env },
    })
    try {
      const url = `${runner.url.replace('http', 'ws')}/ws`
      const { stdout } = await run(
        join(dirname(python), 'pipecat'),
        ['eval', 'run', 'looks.yaml', '--bot-url', url, '--logs-dir', folder],
        { cwd: folder, env: { ...process.env, NO_COLOR: '1', COLUMNS: '200' } },
      ).catch((error: unknown) => error as { stdout: string })
      expect(stdout).toContain('1/1 passed')
    } finally {
      await runner.close()
      await model.close()
    }
  })
})

/** A language model that looks before it answers. */
const curious = asModel(({ messages, tools }) => {
  if (JSON.stringify(messages).includes('image_url')) return { content: 'I see it.' }
  const asked = messages.some(({ role }) => role === 'user')
  if (!asked || !JSON.stringify(tools).includes('"look"')) return { content: 'Hello.' }
  const call = { name: 'look', arguments: '{"question":"What is it?"}' }
  return { tool_calls: [{ index: 0, id: 'call-1', type: 'function', function: call }] }
})
