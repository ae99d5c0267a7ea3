import { describe, expect, it } from 'vitest'
import type { Configuration } from '../configuration.ts'
import { allCases, configured } from '../testing/server-matrix.ts'
import { nextSteps, rootFiles, serverFiles, wheelPath } from './index.ts'

const SMALLEST = ['.env.example', 'bot.py', 'pyproject.toml', 'settings.py', 'tests/test_bot.py']
const CLOUD = ['.dockerignore', 'Dockerfile', 'deploy.toml']
const EVALS = ['evals/starter_audio.yaml', 'evals/starter_judged.yaml', 'evals/starter_text.yaml']

const TREES: readonly (readonly [string, Partial<Configuration>, readonly string[]])[] = [
  ['the smallest', {}, SMALLEST],
  ['one for the cloud', { deployToCloud: true }, [...SMALLEST, ...CLOUD]],
  ['one with evals', { evals: true }, [...SMALLEST, ...EVALS]],
  [
    'one that hears and speaks by one service, with evals',
    { mode: 'realtime', realtime: 'openai_realtime', evals: true },
    [...SMALLEST, 'evals/starter_audio.yaml'],
  ],
  [
    'one that takes calls by rooms',
    { botType: 'telephony', transports: ['room_pstn'], pstnMode: 'dial-in', deployToCloud: true },
    [...SMALLEST, ...CLOUD],
  ],
  [
    'one that calls',
    {
      botType: 'telephony',
      transports: ['room_pstn'],
      pstnMode: 'dial-out',
      deployToCloud: true,
      evals: true,
    },
    [...SMALLEST, ...CLOUD, ...EVALS, 'server.py'],
  ],
]

it.each(TREES)('%s has these files', (_, changes, tree) => {
  const files = serverFiles(configured(changes)).map(({ path }) => path)
  expect(files.sort()).toEqual(tree.map((path) => `server/${path}`).sort())
  expect(rootFiles(configured(changes)).map(({ path }) => path)).toEqual(['README.md', '.gitignore'])
})

it('is the quickstart, word for word', async () => {
  const configuration = configured({
    names: {
      title: 'bot-quickstart',
      python: 'bot-quickstart',
      npm: 'bot-quickstart',
      agent: 'bot-quickstart',
    },
    transports: ['webrtc', 'room'],
    llm: 'openai_responses_llm',
    deployToCloud: true,
  })
  for (const { path, content } of [...serverFiles(configuration), ...rootFiles(configuration)]) {
    await expect(content).toMatchFileSnapshot(`../testing/golden/quickstart/${path}.golden`)
  }
})

describe('next steps', () => {
  it('are about what is there', () => {
    for (const { name, configuration } of allCases()) {
      const files = [
        ...serverFiles(configuration).map(({ path }) => path),
        wheelPath(),
        'AGENTS.md',
        'ASSISTANT.md',
      ]
      const readme = rootFiles(configuration)[0]?.content ?? ''
      const mentioned = [...readme.matchAll(/`?((?:server|client)\/[\w./-]*\w|server\.py|AGENTS\.md)/g)].map(
        ([, path]) => path ?? '',
      )
      const wrong = mentioned.filter((path) => {
        const place = path === 'server.py' ? 'server/server.py' : path
        return (
          place !== 'server/.env' &&
          place !== 'server/recordings' &&
          !files.some((one) => one === place || one.startsWith(`${place}/`))
        )
      })
      expect([name, wrong]).toEqual([name, []])
    }
  })

  it('begin with the keys that are missing', () => {
    const [first] = nextSteps(configured())
    expect(first).toEqual({
      title: 'Settings; then fill in DEEPGRAM_API_KEY, OPENAI_API_KEY, CARTESIA_API_KEY in server/.env',
      commands: ['cp server/.env.example server/.env'],
    })
    const local = configured({ stt: 'moonshine_stt', llm: 'ollama_llm', tts: 'kokoro_tts' })
    expect(nextSteps(local)[0]?.title).toBe('Settings; none has to be filled in')
  })

  it.each<readonly [string, Partial<Configuration>]>([
    ['botcli run', { transports: ['webrtc', 'room'] }],
    [
      'botcli run -t telephony_b -x my-bot.example.com',
      { botType: 'telephony', transports: ['telephony_b'] },
    ],
    ['botcli run', { botType: 'telephony', transports: ['telephony_a', 'webrtc'] }],
    ['botcli run --dialin', { botType: 'telephony', transports: ['room_pstn'], pstnMode: 'dial-in' }],
    [
      '(cd server && uv run server.py)',
      { botType: 'telephony', transports: ['telephony_a_room_sip'], sipMode: 'dial-in' },
    ],
    ['(cd server && uv sync --group evals)', { evals: true }],
    ['(cd client && npm ci && npm run dev)', { clientFramework: 'react', clientServer: 'vite' }],
  ])('have %s', (command, changes) => {
    expect(nextSteps(configured(changes)).flatMap(({ commands }) => commands)).toContain(command)
  })
})
