import { describe, expect, it } from 'vitest'
import type { Configuration } from '../configuration.ts'
import { SERVICES } from '../services/index.ts'
import { configured, transportCases } from '../testing/server-matrix.ts'
import { botcliVersion, gitignore, rootFiles, serverFiles } from './index.ts'

/** Faults that generators of such projects have had. None of them is to come back. */
function file(configuration: Configuration, path: string): string {
  const found = [...serverFiles(configuration), ...rootFiles(configuration)].find((one) => one.path === path)
  if (found === undefined) throw new Error(`there is no ${path}`)
  return found.content
}
const bot = (changes: Partial<Configuration>) => file(configured(changes), 'server/bot.py')
const paths = (configuration: Configuration) => serverFiles(configuration).map(({ path }) => path)
const realtime = (id: string) => bot({ mode: 'realtime', realtime: id })
const PHONE = { botType: 'telephony', transports: ['telephony_a'] } as const
const PSTN_IN = { botType: 'telephony', transports: ['room_pstn'], pstnMode: 'dial-in' } as const
const PSTN_OUT = { botType: 'telephony', transports: ['room_pstn'], pstnMode: 'dial-out' } as const
const SIP_IN = { botType: 'telephony', transports: ['telephony_a_room_sip'], sipMode: 'dial-in' } as const
const SIP_OUT = { botType: 'telephony', transports: ['telephony_a_room_sip'], sipMode: 'dial-out' } as const

describe('variables', () => {
  it('passes no optional parameter whose variable is not set', () => {
    expect(bot({})).toContain('**given(model="OPENAI_MODEL")')
    expect(file(configured(), 'server/.env.example')).toContain('\n# OPENAI_MODEL=gpt-4.1\n')
    const settings = file(configured(), 'server/settings.py')
    expect(settings).toContain('if key in os.environ')
    expect(settings.indexOf('_forget_empty()\nload_dotenv')).toBeGreaterThan(0)
  })

  it('reads no variable in two meanings', () => {
    const uses = new Map<string, Set<string>>()
    for (const { module, parameters, settings = {} } of SERVICES) {
      for (const [parameter, value] of Object.entries({ ...parameters, ...settings })) {
        if (!('variable' in value)) continue
        const kind = parameter.replace(/^aws_/, '')
        const vendor = module.split('.')[0] ?? ''
        const known = uses.get(value.variable) ?? new Set()
        uses.set(value.variable, known.add(/model|voice/.test(kind) ? `${vendor} ${kind}` : kind))
      }
    }
    for (const [variable, kinds] of uses)
      expect([variable, [...kinds]]).toEqual([variable, [expect.any(String)]])
  })

  it('lists the AWS keys that SageMaker needs', () => {
    for (const tts of ['deepgram_sagemaker_tts', 'nvidia_sagemaker_tts']) {
      const env = file(configured({ tts }), 'server/.env.example')
      expect(env).toContain('\nAWS_ACCESS_KEY_ID=\n')
      expect(env).toContain('\nAWS_SECRET_ACCESS_KEY=\n')
      expect(env).toContain('\n# AWS_SESSION_TOKEN=\n')
    }
  })

  it('leaves out a default that two services do not share', () => {
    const both = configured({ stt: 'aws_transcribe_stt', tts: 'nvidia_sagemaker_tts' })
    expect(file(both, 'server/.env.example')).toContain('\n# AWS_REGION=\n')
    expect(file(configured({ stt: 'aws_transcribe_stt' }), 'server/.env.example')).toContain(
      '\n# AWS_REGION=us-east-1\n',
    )
  })

  it('does not make ENV a secret', () => {
    for (const { configuration } of transportCases()) {
      expect(file(configuration, 'server/.env.example')).not.toMatch(/^(# )?ENV=/m)
    }
  })
})

describe('services', () => {
  it('takes the credentials of Google by path', () => {
    const all = [
      bot({ stt: 'google_stt' }),
      bot({ llm: 'google_vertex_llm' }),
      bot({ tts: 'google_tts' }),
      bot({ tts: 'gemini_tts' }),
      realtime('gemini_vertex_live_realtime'),
    ]
    for (const text of all) {
      expect(text).toContain('credentials_path=required("GOOGLE_APPLICATION_CREDENTIALS")')
      expect(text).not.toContain('credentials=')
    }
  })

  it('asks Azure for a transcript where it can hear that', () => {
    expect(realtime('azure_realtime')).toMatch(
      /audio=AudioConfiguration\(\s*input=AudioInput\(\s*transcription=InputAudioTranscription\(model="whisper-1"\)/,
    )
  })

  it('shows the avatar of the variable, and not of its name', () => {
    expect(bot({ video: 'heygen_video', videoOutput: true })).toContain(
      'avatar_id=required("HEYGEN_AVATAR_ID")',
    )
  })

  it('gives Camb a number, and Gladia one of its regions', () => {
    expect(bot({ tts: 'camb_tts' })).toContain('**given_whole(voice="CAMB_VOICE_ID")')
    expect(bot({ stt: 'gladia_stt' })).toContain(
      '**given_one_of(["us-west", "eu-west"], region="GLADIA_REGION")',
    )
  })

  it('asks for the Python that its services need', () => {
    expect(file(configured({ tts: 'nvidia_sagemaker_tts' }), 'server/pyproject.toml')).toContain(
      'requires-python = ">=3.12"',
    )
    expect(
      file(configured({ mode: 'realtime', realtime: 'aws_nova_realtime' }), 'server/pyproject.toml'),
    ).toContain('">=3.12"')
    expect(file(configured(), 'server/pyproject.toml')).toContain('requires-python = ">=3.11"')
  })

  it('speaks at the right speed on the phone, by the rate of the voice and not of the line', () => {
    for (const tts of ['openai_tts', 'gemini_tts']) {
      const text = bot({ ...PHONE, tts })
      expect(text).toContain('sample_rate=24000,\n        settings=')
      expect(text).toContain('audio_out_sample_rate=24000')
      expect(text).not.toContain('8000')
    }
  })
})

describe('video', () => {
  it('is looked at', () => {
    const asked = bot({ transports: ['webrtc', 'room'], videoInput: true })
    expect(asked).toContain('context = LLMContext(tools=[look])')
    expect(asked).toContain('caller_id = transport.get_client_id(client)')
    expect(asked.match(/VideoInSourceParams\(on_request_only=True\)/g)).toHaveLength(2)
    const seen = bot({ mode: 'realtime', realtime: 'gemini_live_realtime', videoInput: true })
    expect(seen).toContain('VideoInSourceParams(framerate=1)')
    expect(seen).not.toContain('look')
  })

  it('is not promised where nobody sends it', () => {
    const about = (changes: Partial<Configuration>) =>
      /## Video\n\n(.*)/.exec(file(configured(changes), 'README.md'))?.[1]
    expect(about({ transports: ['room'], videoOutput: true })).toMatch(/can go to the caller: push/)
    for (const realtime of ['openai_realtime', 'azure_realtime']) {
      const seeing = { mode: 'realtime', realtime, transports: ['room'] } as const
      expect(about({ ...seeing, videoInput: true })).toMatch(/the model sees it/)
    }
  })

  it('is switched on wherever it is sent', () => {
    const text = bot({ transports: ['webrtc', 'room'], videoOutput: true })
    expect(text.match(/video_out_enabled=True/g)).toHaveLength(2)
  })

  it('has the shape of the avatar', () => {
    const size = (changes: Partial<Configuration>) =>
      /video_out_width=(\d+),\s+video_out_height=(\d+)/.exec(bot({ videoOutput: true, ...changes }))?.slice(1)
    expect(size({ video: 'simli_video' })).toEqual(['512', '512'])
    expect(size({ video: 'tavus_video' })).toEqual(['1280', '720'])
    expect(size({ video: 'heygen_video' })).toEqual(['1280', '720'])
    expect(size({})).toEqual(['1024', '768'])
  })

  it('goes by wires that carry it', () => {
    expect(bot({ videoInput: true })).toContain('from pipecat.runner.utils import create_transport')
    expect(bot({ transports: ['room'], videoInput: true })).toContain(
      'from botcli import RunnerArguments, create_transport',
    )
  })

  it('gets a machine that can do it', () => {
    const profile = (changes: Partial<Configuration>) =>
      /agent_profile = "(.*)"/.exec(
        file(configured({ deployToCloud: true, ...changes }), 'server/deploy.toml'),
      )?.[1]
    expect([profile({}), profile({ videoInput: true }), profile({ video: 'simli_video' })]).toEqual([
      'agent-1x',
      'agent-2x',
      'agent-2x',
    ])
  })
})

describe('calls', () => {
  it('has a call server where one is needed, and speaks of none elsewhere', () => {
    for (const [kind, has] of [
      [PSTN_IN, false],
      [PSTN_OUT, true],
      [SIP_IN, true],
      [SIP_OUT, true],
      [PHONE, false],
    ] as const) {
      const configuration = configured({ ...kind, deployToCloud: true })
      expect(paths(configuration).includes('server/server.py')).toBe(has)
      expect(file(configuration, 'README.md').includes('server.py')).toBe(has)
    }
  })

  it('uses the number to call from', () => {
    expect(bot(PSTN_OUT)).toContain('target["callerId"] = settings["caller_id"]')
    expect(file(configured(PSTN_OUT), 'server/server.py')).toContain('settings["caller_id"] = caller_id')
  })

  it('greets callers on every transport, and waits for the word of those whom it calls', () => {
    /** When a bot greets: what stands in each of its handlers. */
    const greetsOn = (changes: Partial<Configuration>) => {
      const text = bot({ ...changes, evals: true })
      const handler = (name: string) =>
        new RegExp(`async def ${name}\\(.*\\n((?: {8}.*\\n)*)`).exec(text)?.[1] ?? ''
      const connected = handler('on_client_connected')
      return {
        once: /if greeted:\s+return\s+greeted = True\s+.*GREETING.*\s+.*LLMRunFrame\(\)/.test(text),
        connected: /isinstance\(transport, DailyTransport\):\n.*\n {12}await greet/.test(connected)
          ? 'in rooms'
          : /^ {8}await greet/m.test(connected),
        ready: /^ {8}await greet/m.test(handler('on_client_ready')),
      }
    }
    for (const kind of [
      PSTN_IN,
      SIP_IN,
      PHONE,
      { ...PHONE, transports: ['telephony_a', 'webrtc'] },
      { transports: ['room'] },
    ] as const) {
      expect([kind, greetsOn(kind)]).toEqual([kind, { once: true, connected: true, ready: false }])
    }
    for (const transports of [['webrtc'], ['websocket'], ['webrtc', 'websocket']] as const) {
      expect(greetsOn({ transports })).toEqual({ once: true, connected: false, ready: true })
    }
    for (const more of [
      {},
      { videoInput: true },
      { mode: 'realtime', realtime: 'openai_realtime' },
    ] as const) {
      const transports = ['room', 'webrtc', 'websocket'] as const
      expect(greetsOn({ transports, ...more })).toEqual({ once: true, connected: 'in rooms', ready: true })
    }
    for (const kind of [PSTN_OUT, SIP_OUT]) {
      expect(greetsOn(kind)).toEqual({ once: false, connected: false, ready: false })
      expect(bot({ ...kind, evals: true })).not.toContain('LLMRunFrame')
    }
  })

  it('ends when a service can no longer do its work', () => {
    for (const { configuration } of transportCases()) {
      expect(file(configuration, 'server/bot.py')).toContain(
        'processor_unusable_policy=ProcessorUnusablePolicy.END,',
      )
    }
  })

  it('has a greeting that its first eval can tell from silence', () => {
    const word = /GREETING.*\n +text_contains: "(\w+)"/.exec(
      file(configured({ evals: true }), 'server/evals/starter_text.yaml'),
    )?.[1]
    expect(bot({ evals: true })).toContain(`with "${word}"`)
  })

  it('has scenarios that fit bots which wait', () => {
    for (const [kind, first] of [
      [PSTN_OUT, 'user'],
      [SIP_OUT, 'user'],
      [PSTN_IN, 'expect'],
      [PHONE, 'expect'],
    ] as const) {
      const text = file(configured({ ...kind, evals: true }), 'server/evals/starter_text.yaml')
      expect(/turns:\n(?: +#.*\n)* +- (\w+):/.exec(text)?.[1]).toBe(first)
    }
  })

  it('ends with the signals of the runner', () => {
    expect(bot(PHONE)).toContain('WorkerRunner(handle_sigint=args.handle_sigint)')
  })

  it('ends a silent call when the runner says so, where runners say it', () => {
    expect(bot({ videoInput: true })).toContain('idle_timeout_secs=args.pipeline_idle_timeout_secs')
    expect(bot(PHONE)).not.toContain('idle_timeout_secs')
  })
})

describe('projects', () => {
  it('leaves it to the runner to tell which keys are missing', () => {
    for (const { configuration } of transportCases()) {
      expect(file(configuration, 'server/bot.py')).toMatch(
        /^if __name__ == "__main__":\n {4}main\(\)\nelse:\n(?: {4}#.*\n)* {4}check_settings\(\)\n$/m,
      )
    }
  })

  it('says where its image has botcli from: a cloud, npm, or packages beside it', () => {
    const cloud = configured({ deployToCloud: true })
    const version = botcliVersion()
    const image = file(cloud, 'server/Dockerfile')
    expect(image).toMatch(
      new RegExp(`^# A cloud .* botcli\\*\\.tgz.*\n# before botcli ${version} is there.*$`, 'm'),
    )
    expect(image).toMatch(new RegExp(`^RUN npm install .*botcli\\*\\.tgz.* echo botcli@${version}\\)$`, 'm'))
    expect(file(cloud, 'README.md')).toContain('A cloud that builds the image puts its own botcli into it.')
    expect(file(cloud, 'README.md')).toContain(`takes botcli ${version} from npm; before that`)
    expect(file(configured(), 'README.md')).not.toContain('npm; before')
  })

  it('can be set up without uv, by a Python that is new enough', () => {
    const block = (changes: Partial<Configuration>) =>
      /Without uv, with Python ([\d.]+) .*\n\n```\n([^`]*)```/
        .exec(file(configured(changes), 'README.md'))
        ?.slice(1)
    expect(block({})).toEqual([
      '3.11',
      'python3 -m venv .venv\n.venv/bin/pip install .\n.venv/bin/python -m unittest discover -s tests\n',
    ])
    expect(block({ tts: 'nvidia_sagemaker_tts', evals: true })).toEqual([
      '3.12',
      `python3.12 -m venv .venv
.venv/bin/pip install . "pipecat-ai[evals,runner,websocket]"
.venv/bin/python -m unittest discover -s tests
.venv/bin/pipecat eval run evals/starter_text.yaml -v
`,
    ])
  })

  it('asks for the versions of the library that it is written for', () => {
    expect(file(configured(), 'server/pyproject.toml')).toContain(
      '"pipecat-ai[cartesia,deepgram,openai,silero]>=1.14.0,<2"',
    )
  })

  it('keeps eval tools out of production', () => {
    const text = file(configured({ evals: true, deployToCloud: true }), 'server/pyproject.toml')
    const [production = '', groups = ''] = text.split('[dependency-groups]')
    expect(production).not.toContain('evals')
    expect(groups).toContain('evals = [\n    "pipecat-ai[evals,runner,websocket]>=1.14.0,<2",\n]')
    expect(file(configured({ evals: true, deployToCloud: true }), 'server/Dockerfile')).not.toContain('group')
  })

  it('first evaluates what needs no judge', () => {
    const text = file(configured({ evals: true }), 'server/evals/starter_text.yaml')
    expect(text).toMatch(/^scenarios:$/m)
    expect(text).not.toMatch(/^ +eval:/m)
    const judged = file(configured({ evals: true }), 'server/evals/starter_judged.yaml')
    expect(judged).toContain('factory:')
    expect(judged).not.toContain('service: openai')
    expect(paths(configured({ evals: true, mode: 'realtime', realtime: 'openai_realtime' }))).not.toContain(
      'server/evals/starter_text.yaml',
    )
  })

  it('hides nothing of the client, and what evals and recordings leave behind', () => {
    const lines = gitignore(configured({ clientFramework: 'react', evals: true, recording: true })).split(
      '\n',
    )
    for (const line of lines)
      expect(line).not.toMatch(/^\/?(\*\*\/)?(lib|src|public|build|env|var|parts)\/?$/)
    expect(lines).toEqual(
      expect.arrayContaining(['/server/recordings/', '*.conversation.json', 'judged.jsonl', '*.eval.log']),
    )
    expect(lines.filter((line) => line === '/server/recordings/')).toHaveLength(1)
  })

  it('brings the locked versions into the image, and does without a lock file', () => {
    const text = file(configured({ deployToCloud: true }), 'server/Dockerfile')
    expect(text).toContain('COPY pyproject.toml uv.lock* ./')
    expect(text).toMatch(/^RUN .*uv sync .*--no-dev/m)
    expect(file(configured({ deployToCloud: true }), 'server/.dockerignore')).toMatch(/^\*\*\/\.venv$/m)
  })

  it('keeps secrets out of the image, and lets the cloud have what it builds from', () => {
    const lines = file(configured({ deployToCloud: true }), 'server/.dockerignore').split('\n')
    expect(lines).toEqual(expect.arrayContaining(['**/.env', '**/.env.*', 'recordings']))
    for (const needed of ['Dockerfile', 'pyproject.toml', 'uv.lock', 'wheels', 'bot.py']) {
      expect(lines.filter((line) => line.includes(needed) && !line.startsWith('#'))).toEqual([])
    }
  })

  it('tells the cloud nothing that it does not know', () => {
    const keys = file(configured({ deployToCloud: true }), 'server/deploy.toml')
      .split('\n')
      .flatMap((line) => /^(\w+) =|^\[(\w+)\]/.exec(line)?.slice(1).filter(Boolean) ?? [])
    expect(keys).toEqual([
      'agent_name',
      'secret_set',
      'agent_profile',
      'build',
      'context_dir',
      'dockerfile',
      'scaling',
      'min_agents',
      'max_agents',
    ])
  })

  it('survives titles with quotes, backslashes and lines', () => {
    const names = { ...configured().names, title: '""" \\ My\n"Bot" é' }
    const text = file(configured({ names }), 'server/bot.py')
    expect(text.startsWith('"""My Bot é: a voice bot.\n')).toBe(true)
    expect(file(configured({ names }), 'server/.env.example').split('\n')[0]).toMatch(/^# Settings of .*$/)
    expect(file(configured({ names }), 'README.md').split('\n')[1]).toBe('')
  })
})
