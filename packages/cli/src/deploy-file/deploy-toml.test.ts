import { describe, expect, it } from 'vitest'
import { folderWith } from '../testing/folder.ts'
import { typed } from '../testing/typed-command.ts'
import { parseDeployFile } from './deploy-toml.ts'

const NOTHING = { agent: {}, region: undefined, contextDir: '.', dockerfile: undefined, exclude: [] }

describe('deploy.toml', () => {
  it.each([
    ['', NOTHING],
    ['\uFEFF# nothing\r\n', NOTHING],
    [
      '[build]\ncontext_dir = "app"\ndockerfile = \'Dock"er\'',
      { ...NOTHING, contextDir: 'app', dockerfile: 'Dock"er' },
    ],
    [
      'region="eu"\n[scaling]\nmin_agents = 1\n[ build ]\ndockerfile = "a\\"b" # c',
      { ...NOTHING, agent: { minAgents: 1 }, region: 'eu', dockerfile: 'a"b' },
    ],
    [
      'image = """\n[build]\ndockerfile = "no"\n"""\nbuild.dockerfile = "yes"',
      { ...NOTHING, agent: { image: '[build]\ndockerfile = "no"\n' }, dockerfile: 'yes' },
    ],
    ['build = { dockerfile = "x" }', { ...NOTHING, dockerfile: 'x' }],
    [
      '[build.exclude]\npatterns = [\n  "docs", # not needed\n  \'*.wav\',\n]\n',
      { ...NOTHING, exclude: ['docs', '*.wav'] },
    ],
    [
      [
        'agent_name = "my-bot"\nimage_credentials = "my-registry"\nsecret_set = "my-bot-secrets"',
        'agent_profile = "agent-2x"\nmax_session_duration = 600\nsessions_per_instance = 3\n[build]',
        '[scaling]\nmin_agents = 0\nmax_agents = 4\n[noise_filter]\naudio_filter = "tel"',
      ].join('\n'),
      {
        ...NOTHING,
        agent: {
          ...{ agentName: 'my-bot', imageCredentials: 'my-registry', secretSet: 'my-bot-secrets' },
          ...{ agentProfile: 'agent-2x', maxSessionDuration: 600, sessionsPerInstance: 3 },
          ...{ minAgents: 0, maxAgents: 4, audioFilter: 'tel' },
        },
      },
    ],
    ['noise_filter.audio_filter = "none"', { ...NOTHING, agent: { audioFilter: null } }],
  ])('%j', (text, expected) => {
    expect(parseDeployFile(text, 'deploy.toml')).toEqual(expected)
  })

  it.each([
    ['[build]\ndockerfile = 3', ['line 2: build.dockerfile must be a string between quotes.']],
    ['[build]\n\n# note\ncontext_dir = " "', ['line 4: build.context_dir must not be empty.']],
    ['region = ["a"]', ['line 1: region must be a string']],
    ['region = "x"\nbuild = 3', ['line 2: build must be a section: [build].']],
    ['[[build]]\ndockerfile = "x"\n', ['line 1: build must be a section: [build].']],
    [
      '[build]\ncontext-dir = "."\n',
      [
        'line 2: build.context-dir is unknown. Did you mean context_dir? Allowed in [build]: context_dir, dockerfile, exclude.',
      ],
    ],
    [
      '[build.exclude]\nfiles = []\n',
      ['line 2: build.exclude.files is unknown. Allowed in [build.exclude]: patterns.'],
    ],
    ['[build.exclude]\npatterns = "x"\n', ['line 2: build.exclude.patterns must be a list of strings']],
    [
      'image = """\n[build]\n"""\n\n[build.exclude]\npatterns = [\n  "ok",\n  4,\n  "[",\n  "!x",\n  "../x",\n  "/"\n]',
      [
        'line 6: build.exclude.patterns[1] must be a string',
        'line 6: build.exclude.patterns[2] is no pattern, as "[" has no "]".',
        'line 6: build.exclude.patterns[3] is no pattern, as it only leaves out',
        'line 6: build.exclude.patterns[4] is no pattern, as it names nothing inside',
        'line 6: build.exclude.patterns[5] is no pattern, as it names nothing inside',
      ],
    ],
    ['[build]\ndockerfile = Dockerfile\n', ['line 2, column 14: It is not TOML: ']],
    ['[build]\na = 1\nb = 2\n', ['line 2: build.a is unknown', 'line 3: build.b is unknown']],
    [
      'agent-name = "x"\nsecret_sets = "y"\n[scaling]\nmax_instances = 3',
      [
        'line 4: scaling.max_instances is unknown. Allowed in [scaling]: min_agents, max_agents.',
        'line 1: agent-name is unknown. Did you mean agent_name? Allowed at the top: agent_name, image,',
        'line 2: secret_sets is unknown. Did you mean secret_set? Allowed at the top:',
      ],
    ],
    [
      'agent_name = "My bot"\nsecret_set = "x"\nagent_profile = "agent-9x"\nmax_session_duration = 20',
      [
        'line 1: agent_name must be 2 to 54 lower case letters',
        'line 2: secret_set must be 3 to 63',
        'line 3: agent_profile must be one of "agent-1x", "agent-2x", "agent-3x".',
        'line 4: max_session_duration must be a whole number from 60 to 14400.',
      ],
    ],
    ['build_id = "nope"', ['line 1: build_id must be the id of a build']],
    [
      'image = "a:1"\nbuild_id = "00000000-0000-4000-8000-000000000000"\n[scaling]\nmin_agents = 5\nmax_agents = 4',
      [
        'line 2: build_id and image cannot both be there',
        'line 4: scaling.min_agents must not be more than max_agents, which is 4.',
      ],
    ],
    ['a = 1\na = 2\n', ['line 2, column 1: It is not TOML: ']],
  ])('%j is refused', (text, expected) => {
    let problems: unknown
    try {
      parseDeployFile(text, 'deploy.toml')
    } catch (error) {
      problems = error instanceof Error ? error.message.split('\n') : error
    }
    expect(problems).toEqual(expected.map((one) => expect.stringContaining(`deploy.toml, ${one}`)))
  })

  it('leaves out what it excludes, beside what .dockerignore does, wherever a name is', async () => {
    const cwd = await folderWith({
      Dockerfile: 'FROM x',
      '.dockerignore': '*.md\n!keep.md\n',
      'deploy.toml': '[build.exclude]\npatterns = ["*.wav", "docs/", "/top", "a/only", "#x", "Dockerfile"]\n',
      'keep.md': '',
      'read.md': '',
      'a/b/hello.wav': '',
      'a/docs/x': '',
      'a/only': '',
      'b/only': '',
      top: '',
      'a/top': '',
      '#x': '',
      'a/b/bot.py': '',
    })
    const { code, stdout, stderr } = await typed(['build', 'create', '--list', '--json'], { cwd })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const listed = JSON.parse(stdout) as { files: { path: string }[]; exclude: string[] }
    expect(listed.files.map(({ path }) => path)).toEqual([
      '.dockerignore',
      'Dockerfile',
      'a/b/bot.py',
      'a/top',
      'b/only',
      'deploy.toml',
      'keep.md',
    ])
    expect(listed.exclude).toContain('docs/')
    const people = await typed(['build', 'create', '--list'], { cwd })
    expect(people.stderr).toContain('deploy.toml and .dockerignore say what is left out)')
  })

  it.each([
    ['too long', `a = "${'x'.repeat(70_000)}"`, 'deploy.toml has more than 64 KB.'],
    ['no text', Buffer.from([0x61, 0xff]), 'deploy.toml cannot be read (it is not UTF-8).'],
  ])('is refused if it is %s', async (_, text, message) => {
    const cwd = await folderWith({ Dockerfile: 'FROM x', 'deploy.toml': text })
    const { code, stderr } = await typed(['build', 'create', '--list'], { cwd })
    expect(stderr).toContain(message)
    expect(code).toBe(2)
  })
})
