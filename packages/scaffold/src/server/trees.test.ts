import { describe, expect, it } from 'vitest'
import { clientFiles } from '../client/index.ts'
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

const QUICKSTART = 'bot-quickstart'
const GOLDEN: readonly (readonly [string, Partial<Configuration>])[] = [
  [
    'quickstart',
    {
      names: { title: QUICKSTART, python: QUICKSTART, npm: QUICKSTART, agent: QUICKSTART },
      transports: ['webrtc', 'room'],
      llm: 'openai_responses_llm',
      deployToCloud: true,
    },
  ],
  [
    'sip-dial-in',
    {
      botType: 'telephony',
      transports: ['telephony_a_room_sip'],
      sipMode: 'dial-in',
      evals: true,
      recording: true,
      deployToCloud: true,
    },
  ],
  [
    'video',
    {
      transports: ['room', 'webrtc', 'websocket'],
      video: 'heygen_video',
      videoInput: true,
      videoOutput: true,
      transcription: true,
      observability: true,
      noiseFilter: true,
      deployToCloud: true,
    },
  ],
]

it.each(GOLDEN)('is %s, word for word', async (name, changes) => {
  const configuration = configured(changes)
  for (const { path, content } of [...serverFiles(configuration), ...rootFiles(configuration)]) {
    await expect(content).toMatchFileSnapshot(`../testing/golden/${name}/${path}.golden`)
  }
})

describe('next steps', () => {
  it('are about what is there', () => {
    for (const { name, configuration } of allCases()) {
      const files = [
        ...[...serverFiles(configuration), ...clientFiles(configuration)].map(({ path }) => path),
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
          !['server/.env', 'server/recordings', 'server/uv.lock'].includes(place) &&
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
    expect(nextSteps(local).flatMap(({ commands }) => commands)).toContain('ollama pull llama2')
  })

  it('run an image as its transports need it', () => {
    const trial = (changes: Partial<Configuration>) => {
      const readme = rootFiles(configured({ deployToCloud: true, ...changes }))[0]?.content ?? ''
      return /docker run ([^`]*)\n```/.exec(readme)?.[1]?.replace(/\s+\\?\s*/g, ' ')
    }
    const phone = { botType: 'telephony' } as const
    const run = '--rm --env-file server/.env'
    const command = 'botcli run bot.py --host 0.0.0.0 --port 7860'
    expect([
      trial({ transports: ['room'] }),
      trial({ transports: ['webrtc'] }),
      trial({ transports: ['webrtc'], videoInput: true }),
      trial({ ...phone, transports: ['telephony_a'] }),
      trial({ ...phone, transports: ['telephony_d'] }),
      trial({ ...phone, transports: ['telephony_a', 'telephony_b'] }),
      trial({ ...phone, transports: ['room_pstn'], pstnMode: 'dial-in' }),
      trial({ ...phone, transports: ['room_pstn', 'webrtc'], pstnMode: 'dial-in' }),
    ]).toEqual([
      `${run} -p 7860:7860 my-bot`,
      `${run} -p 7860:7860 -p 40000:40000/udp my-bot ${command} --ice-port 40000 --announced-address 127.0.0.1`,
      `${run} --network host my-bot`,
      `${run} -p 7860:7860 my-bot ${command} -t telephony_a -x my-bot.example.com`,
      `${run} -p 7860:7860 my-bot ${command} -t telephony_d`,
      `${run} -p 7860:7860 my-bot`,
      `${run} -p 7860:7860 my-bot`,
      `${run} -p 7860:7860 -p 40000:40000/udp my-bot ${command} --dialin --ice-port 40000 --announced-address 127.0.0.1`,
    ])
  })

  it('begin phone bots with a call that needs no phone and no public name', () => {
    const commands = (transports: Configuration['transports']) =>
      nextSteps(configured({ botType: 'telephony', transports })).flatMap((step) => step.commands)
    expect(commands(['telephony_b']).slice(2)).toEqual([
      'botcli run',
      'botcli call --as telephony_b',
      'botcli run -t telephony_b -x my-bot.example.com',
    ])
    expect(commands(['telephony_d']).slice(2)).toEqual([
      'botcli run',
      'botcli call --as telephony_d',
      'botcli run -t telephony_d',
    ])
    expect(commands(['telephony_c', 'webrtc']).slice(2)).toEqual([
      'botcli run',
      'botcli call --as telephony_c',
    ])
  })

  it.each([
    ['http://localhost:5173', { clientFramework: 'react', clientServer: 'vite' }],
    ['http://localhost:5173', { clientFramework: 'vanilla', clientServer: 'vite' }],
    ['http://localhost:3000', { clientFramework: 'react', clientServer: 'nextjs' }],
  ] as const)('open the client at %s', (url, client) => {
    const step = nextSteps(configured(client)).find(({ title }) => title.startsWith('The client'))
    expect(step?.title.endsWith(`then open ${url}`)).toBe(true)
    expect(rootFiles(configured(client))[0]?.content).toContain(
      `npm run dev      # while you work, at ${url}`,
    )
  })

  it('tell how evals find a bot on another port', () => {
    const evals = configured({ evals: true })
    const flag = '--bot-url ws://localhost:PORT/ws'
    expect(nextSteps(evals).at(-1)?.title).toContain(flag)
    expect(rootFiles(evals)[0]?.content).toContain(`add \`${flag}\``)
  })

  it.each<readonly [string, Partial<Configuration>]>([
    ['botcli run', { transports: ['webrtc', 'room'] }],
    ['botcli run -t websocket', { transports: ['websocket'] }],
    [
      'botcli run -t telephony_b -x my-bot.example.com',
      { botType: 'telephony', transports: ['telephony_b'] },
    ],
    ['botcli run', { botType: 'telephony', transports: ['telephony_a', 'webrtc'] }],
    ['botcli run', { botType: 'telephony', transports: ['telephony_a', 'room'] }],
    ['botcli run', { botType: 'telephony', transports: ['telephony_a', 'telephony_b'] }],
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
