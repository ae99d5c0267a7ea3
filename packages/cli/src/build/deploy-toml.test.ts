import { describe, expect, it } from 'vitest'
import { folderWith } from '../testing/folder.ts'
import { typed } from '../testing/typed-command.ts'
import { parseDeployFile } from './deploy-toml.ts'

const NOTHING = { region: undefined, contextDir: '.', dockerfile: undefined, exclude: [] }

describe('deploy.toml', () => {
  it.each([
    ['', NOTHING],
    ['\uFEFF# nothing\r\n', NOTHING],
    [
      '[build]\ncontext_dir = "app"\ndockerfile = \'Dock"er\'',
      { ...NOTHING, contextDir: 'app', dockerfile: 'Dock"er' },
    ],
    [
      'region="eu"\n[scaling]\nregion = 1\n[ build ]\ndockerfile = "a\\"b" # c',
      { ...NOTHING, region: 'eu', dockerfile: 'a"b' },
    ],
    [
      'note = """\n[build]\ndockerfile = "no"\n"""\nbuild.dockerfile = "yes"',
      { ...NOTHING, dockerfile: 'yes' },
    ],
    ['build = { dockerfile = "x" }', { ...NOTHING, dockerfile: 'x' }],
    [
      '[build.exclude]\npatterns = [\n  "docs", # not needed\n  \'*.wav\',\n]\n',
      { ...NOTHING, exclude: ['docs', '*.wav'] },
    ],
    [
      'agent_name = "x"\nsecret_set = "x-secrets"\nagent_profile = "agent-1x"\n[build]\n[scaling]\nmin_agents = 1',
      NOTHING,
    ],
  ])('%j', (text, expected) => {
    expect(parseDeployFile(text, 'deploy.toml')).toEqual(expected)
  })

  it.each([
    ['[build]\ndockerfile = 3', ['line 2: build.dockerfile must be a string between quotes.']],
    ['[build]\n\n# note\ncontext_dir = " "', ['line 4: build.context_dir must not be empty.']],
    ['region = ["a"]', ['line 1: region must be a string']],
    ['x = 1\nbuild = 3', ['line 2: build must be a section: [build].']],
    ['[[build]]\ndockerfile = "x"\n', ['line 1: build must be a section: [build].']],
    [
      '[build]\ncontext-dir = "."\n',
      ['line 2: build.context-dir is unknown; allowed in [build]: context_dir, dockerfile, exclude.'],
    ],
    [
      '[build.exclude]\nfiles = []\n',
      ['line 2: build.exclude.files is unknown; allowed in [build.exclude]: patterns.'],
    ],
    ['[build.exclude]\npatterns = "x"\n', ['line 2: build.exclude.patterns must be a list of strings']],
    [
      'a = """\n[build]\n"""\n\n[build.exclude]\npatterns = [\n  "ok",\n  4,\n  "[",\n  "!x",\n  "../x",\n  "/"\n]',
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
    expect(people.stderr).toContain('left out by deploy.toml and .dockerignore)')
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
