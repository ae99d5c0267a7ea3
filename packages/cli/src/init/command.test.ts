import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Ended, runMain } from '../testing/run-main.ts'
import { treeOf } from '../testing/tree.ts'
import { help } from './help.ts'

const CASCADE = '-m cascade --stt deepgram_stt --llm openai_llm --tts cartesia_tts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'botcli-init-'))
})
afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

function init(line: string): Promise<Ended> {
  return runMain(['init', ...line.split(' ').filter((word) => word !== '')], folder)
}

async function configurationIn(path: string): Promise<Record<string, unknown>> {
  const answers = JSON.parse(await readFile(join(folder, path, '.botcli.json'), 'utf8'))
  return answers.configuration
}

describe('the target', () => {
  it('quickstart is the ready-made bot', async () => {
    expect(await init('quickstart')).toMatchObject({ code: 0, stderr: '' })
    expect(await readdir(folder)).toEqual(['bot-quickstart'])
    const tree = await treeOf(join(folder, 'bot-quickstart'))
    expect([...tree.keys()]).toEqual(
      expect.arrayContaining(['AGENTS.md', 'ASSISTANT.md', 'README.md', '.gitignore', 'server/bot.py']),
    )
    expect(tree.has('GETTING_STARTED.md')).toBe(false)
    expect(await configurationIn('bot-quickstart')).toMatchObject({ transports: ['webrtc', 'room'] })
  })

  it('is a new folder, with folders above it, whose name is that of the project', async () => {
    expect(await init(`deep/My_Bot -t webrtc ${CASCADE}`)).toMatchObject({ code: 0 })
    expect(await configurationIn('deep/My_Bot')).toMatchObject({ project_name: 'My_Bot' })
    expect(await readFile(join(folder, 'deep/My_Bot/server/pyproject.toml'), 'utf8')).toContain('"my-bot"')
  })

  it.each(['.', ''])('is this folder with "%s" and options', async (target) => {
    expect(await init(`${target} -t webrtc -n Hello ${CASCADE}`)).toMatchObject({ code: 0 })
    expect(await configurationIn('.')).toMatchObject({ project_name: 'Hello' })
  })

  it('tells how a name was changed', async () => {
    const { stdout } = await init(`My_Bot -t webrtc ${CASCADE}`)
    expect(stdout).toContain('For Python, npm and the cloud its name is my-bot.')
  })

  it('cannot be a file', async () => {
    await writeFile(join(folder, 'taken'), '')
    const { code, stderr } = await init(`taken -t webrtc ${CASCADE}`)
    expect(code).toBe(1)
    expect(stderr).toContain('taken cannot be made a project: a file is there.')
  })

  it.each([
    ['a b', 'TARGET_DIR is one folder, not 2: a, b.'],
    ['--transprt webrtc', 'Unknown option --transprt. Did you mean --transport?'],
    ['--recording --no-recording', '--recording and --no-recording cannot both be given.'],
    ['--name', '-n/--name needs a value: NAME.'],
  ])('a command line like "%s" is a usage error', async (line, message) => {
    const { code, stdout, stderr } = await init(line)
    expect(code).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toContain(message)
    const asJson = await init(`--json ${line}`)
    expect(asJson).toMatchObject({ code: 2, stderr: '' })
    expect(JSON.parse(asJson.stdout)).toMatchObject({
      status: 'error',
      code: 'usage',
      problems: [{ message }],
    })
  })
})

describe('what is wrong', () => {
  it('is listed all at once, on stderr, and nothing is written', async () => {
    const { code, stdout, stderr } = await init(
      'x -t webrct -m cascade --stt deepgramm --video nobody --recording',
    )
    expect(code).toBe(1)
    expect(stdout).toBe('')
    for (const part of [
      '--transport',
      'Did you mean webrtc?',
      'Did you mean deepgram_stt?',
      '--llm is missing',
      '--tts is missing',
    ]) {
      expect(stderr).toContain(part)
    }
    expect(await readdir(folder)).toEqual([])
  })

  it('is the same as JSON', async () => {
    const { code, stdout, stderr } = await init('x -t webrct -m cascade --stt deepgramm --json')
    expect(code).toBe(1)
    expect(stderr).toBe('')
    const { status, problems } = JSON.parse(stdout)
    expect(status).toBe('error')
    expect(problems.map((problem: { field: string; flag: string; code: string }) => problem)).toEqual([
      expect.objectContaining({
        field: 'transports',
        flag: '--transport',
        code: 'unknown_value',
        suggestion: 'webrtc',
      }),
      expect.objectContaining({ field: 'stt_service', value: 'deepgramm', suggestion: 'deepgram_stt' }),
      expect.objectContaining({
        field: 'llm_service',
        code: 'missing',
        allowed: expect.arrayContaining(['openai_llm']),
      }),
      expect.objectContaining({ field: 'tts_service', code: 'missing' }),
    ])
  })

  it.each([
    '--recording',
    '--client-framework react',
    '--no-eval',
    '--name x',
    '--dry-run',
    '--client-server vite',
  ])('%s alone asks nothing, and names what is missing', async (option) => {
    const { code, stderr } = await init(option)
    expect(code).toBe(1)
    expect(stderr).toContain('--transport is missing')
    expect(await readdir(folder)).toEqual([])
  })

  it.each([
    ['absent.json', undefined, 'The config file absent.json cannot be read: there is no such file.'],
    ['""', undefined, 'The config file "" cannot be read: its name is empty.'],
    ['/dev/zero', undefined, '/dev/zero is no config file: it is longer than'],
    ['list.json', '[]', 'list.json must be a JSON object, not a list.'],
    ['bad.json', '{"mode": cascade}', 'bad.json is not JSON: line 1, column 10'],
    [
      'key.json',
      '{"stt": "deepgram_stt"}',
      'key.json has the key "stt", which is unknown. Did you mean stt_service?',
    ],
    ['type.json', '{"deploy_to_cloud": "no"}', 'deploy_to_cloud in type.json must be true or false'],
  ])('a config file %s is told by name', async (name, text, message) => {
    if (text !== undefined) await writeFile(join(folder, name), text)
    const { code, stderr } = await runMain(['init', 'x', '--config', name === '""' ? '' : name], folder)
    expect(code).toBe(1)
    expect(stderr).toContain(message)
  })

  it('without a terminal: says which options to give, by commands that work', async () => {
    for (const target of ['', 'my-bot', '.']) {
      const { code, stdout, stderr } = await init(target)
      expect(code).toBe(1)
      expect(stdout).toBe('')
      expect(stderr).toContain('--transport is missing')
      const examples = [...stderr.matchAll(/^ {2}botcli init (.*)$/gm)].map((match) => match[1] ?? '')
      expect(examples).toHaveLength(2)
      for (const example of examples) expect(await init(`${example} --dry-run`)).toMatchObject({ code: 0 })
    }
  })
})

describe('a configuration', () => {
  it('is printed alone by --dry-run, which writes nothing, and is a config file', async () => {
    const line = `xy -t telephony_b -t webrtc ${CASCADE} --no-deploy-to-cloud --eval`
    const { code, stdout, stderr } = await init(`${line} --dry-run`)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(await readdir(folder)).toEqual([])
    expect(JSON.parse(stdout)).toMatchObject({
      bot_type: 'telephony',
      transports: ['telephony_b', 'webrtc'],
      deploy_to_cloud: false,
      enable_eval: true,
    })
    await writeFile(join(folder, 'x.json'), stdout)
    expect((await init('other -c x.json --dry-run')).stdout).toBe(stdout)
    expect((await init('other -c x.json --dry-run --json')).stdout).toBe(stdout)
  })

  it('says on stderr how a name was changed, so that stdout stays JSON', async () => {
    const { stdout, stderr } = await init(`X_1 -t webrtc ${CASCADE} --dry-run`)
    expect(JSON.parse(stdout)).toMatchObject({ project_name: 'X_1' })
    expect(stderr).toContain('x-1')
  })

  it('of the quickstart is printed, too', async () => {
    const { stdout } = await init('quickstart --dry-run')
    expect(JSON.parse(stdout)).toMatchObject({ project_name: 'bot-quickstart' })
    expect(await readdir(folder)).toEqual([])
  })

  it('takes what is typed over what the file says', async () => {
    await writeFile(
      join(folder, 'x.json'),
      JSON.stringify({ transports: ['room'], mode: 'cascade', recording: true }),
    )
    const { stdout } = await init(`x -c x.json ${CASCADE} -t webrtc --no-recording --dry-run`)
    expect(JSON.parse(stdout)).toMatchObject({ transports: ['webrtc'], recording: false })
  })

  it('can be any of those in the help', async () => {
    await writeFile(
      join(folder, 'my-bot.json'),
      '{"transports": ["room"], "mode": "realtime", "realtime_service": "openai_realtime"}',
    )
    const examples = [...help().matchAll(/^ {2}botcli init (.*)$/gm)].map((match) => match[1] ?? '')
    expect(examples.length).toBeGreaterThan(3)
    for (const example of examples) expect(await init(`${example} --dry-run`)).toMatchObject({ code: 0 })
  })
})

it('--list-options prints the keys in their order, and nothing else', async () => {
  const { code, stdout, stderr } = await init('--list-options')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const list = JSON.parse(stdout)
  expect(Object.keys(list)).toEqual(['bot_type', 'transports', 'stt', 'llm', 'tts', 'realtime', 'video'])
  expect(list.transports.web).toEqual(expect.arrayContaining(['room', 'webrtc', 'websocket']))
})

describe('what is there', () => {
  const LINE = `. -n x -t webrtc ${CASCADE}`

  it('is not touched, and what is in the way is listed', async () => {
    await writeFile(join(folder, 'README.md'), 'mine')
    await mkdir(join(folder, 'server'))
    await writeFile(join(folder, 'server/bot.py'), 'mine')
    await writeFile(join(folder, '.gitignore'), 'mine\n')
    const before = await treeOf(folder)
    const { code, stdout, stderr } = await init(LINE)
    expect(code).toBe(1)
    expect(stdout).toBe('')
    expect(stderr).toContain('2 files are in the way in this folder. Nothing was written.')
    expect(stderr).toContain('  - README.md: the file is there, with other content')
    expect(stderr).toContain('  - server/bot.py:')
    expect(await treeOf(folder)).toEqual(before)
    const asJson = JSON.parse((await init(`${LINE} --json`)).stdout)
    expect(asJson).toMatchObject({ status: 'error', code: 'conflict' })
    expect(asJson.files.map(({ path }: { path: string }) => path).toSorted()).toEqual([
      'README.md',
      'server/bot.py',
    ])
  })

  it('is overwritten by --force, but for guides; .gitignore is merged', async () => {
    for (const name of ['README.md', 'AGENTS.md']) await writeFile(join(folder, name), 'mine')
    await writeFile(join(folder, '.gitignore'), 'mine\n')
    const { code, stdout } = await init(`${LINE} --force`)
    expect(code).toBe(0)
    expect(stdout).toContain('AGENTS.md was not written by botcli and is kept.')
    expect(await readFile(join(folder, 'README.md'), 'utf8')).not.toBe('mine')
    expect(await readFile(join(folder, 'AGENTS.md'), 'utf8')).toBe('mine')
    expect(await readFile(join(folder, '.gitignore'), 'utf8')).toMatch(/^mine\n[\s\S]*\.env/)
  })

  it('is not said to be overwritable when it is not', async () => {
    await mkdir(join(folder, 'server/bot.py'), { recursive: true })
    const { code, stderr } = await init(`${LINE} --force`)
    expect(code).toBe(1)
    expect(stderr).toContain('server/bot.py: a folder is there')
    expect(stderr).not.toContain('--force')
  })

  it('is enough when it is the same', async () => {
    await init(LINE)
    const before = await treeOf(folder)
    const { code, stdout } = await init(LINE)
    expect(code).toBe(0)
    expect(stdout).toMatch(/\d+ files already there\./)
    expect(await treeOf(folder)).toEqual(before)
  })

  it('is not written through a link', async () => {
    const outside = await mkdtemp(join(tmpdir(), 'botcli-outside-'))
    await symlink(outside, join(folder, 'server'))
    const { code, stderr } = await init(`${LINE} --force`)
    expect(code).toBe(1)
    expect(stderr).toContain('server is a symbolic link')
    expect(await readdir(outside)).toEqual([])
    await rm(outside, { recursive: true })
  })

  it('tells programs what became of it', async () => {
    const { stdout } = await init(`new -t webrtc ${CASCADE} --json`)
    const done = JSON.parse(stdout)
    expect(done).toMatchObject({
      status: 'done',
      directory: join(folder, 'new'),
      configuration: { mode: 'cascade' },
    })
    expect(done.files).toContainEqual({ path: 'server/bot.py', status: 'create' })
    expect(done.next_steps[0].commands).toEqual(['cp server/.env.example server/.env'])
  })
})

describe('guides', () => {
  async function older(): Promise<string> {
    const path = join(folder, 'bot-quickstart', 'AGENTS.md')
    const text = await readFile(path, 'utf8')
    await writeFile(path, text.replace(/^<!-- botcli \S+/, '<!-- botcli 0.0.1'))
    return path
  }

  it('of an older version are kept, and the command that refreshes them is printed and works', async () => {
    await init('quickstart')
    const fresh = await readFile(join(folder, 'bot-quickstart/AGENTS.md'), 'utf8')
    const path = await older()
    for (const line of ['quickstart', 'bot-quickstart']) {
      const { stdout, stderr } = await init(line)
      expect(stdout + stderr).toContain('To refresh it: botcli init bot-quickstart --overwrite-guide')
      expect(await readFile(path, 'utf8')).not.toBe(fresh)
    }
    const { code, stdout } = await init('bot-quickstart --overwrite-guide')
    expect(code).toBe(0)
    expect(stdout).toContain('The guides are in bot-quickstart: 1 file overwritten, 1 already there.')
    expect(await readFile(path, 'utf8')).toBe(fresh)
    expect(await readdir(join(folder, 'bot-quickstart'))).not.toContain('GETTING_STARTED.md')
  })

  it('are overwritten along with a project', async () => {
    await init('quickstart')
    const path = await older()
    await writeFile(path, 'mine')
    expect(await init('quickstart --overwrite-guide')).toMatchObject({ code: 0 })
    expect(await readFile(path, 'utf8')).toContain('# ')
  })

  it('are not guessed for a project of another version', async () => {
    await init('quickstart')
    const path = join(folder, 'bot-quickstart', '.botcli.json')
    const answers = JSON.parse(await readFile(path, 'utf8'))
    await writeFile(path, JSON.stringify({ ...answers, configuration: { colour: 'red' } }))
    const { code, stderr } = await init('bot-quickstart --overwrite-guide')
    expect(code).toBe(1)
    expect(stderr).toContain('is of another version of botcli, and this one cannot read it')
  })

  it('are not guessed where the answers are damaged or gone and a bot is there', async () => {
    await init('quickstart')
    const path = join(folder, 'bot-quickstart', '.botcli.json')
    const guide = await readFile(join(folder, 'bot-quickstart/AGENTS.md'), 'utf8')
    await writeFile(path, '<<<<<<< HEAD\n{')
    expect((await init('bot-quickstart --overwrite-guide')).stderr).toContain('is damaged. Restore it')
    await rm(path)
    expect((await init('bot-quickstart --overwrite-guide')).stderr).toContain(
      'has a bot, but no .botcli.json',
    )
    expect(await readFile(join(folder, 'bot-quickstart/AGENTS.md'), 'utf8')).toBe(guide)
  })
})

describe('what a project remembers', () => {
  it('has the hash of every file, also after a guide was kept and written later', async () => {
    await init('quickstart')
    const remembered = await readFile(join(folder, 'bot-quickstart/.botcli.json'), 'utf8')
    const path = join(folder, 'bot-quickstart/AGENTS.md')
    await writeFile(path, (await readFile(path, 'utf8')).replace(/^<!-- botcli \S+/, '<!-- botcli 0.0.1'))
    await init('quickstart')
    await init('bot-quickstart --overwrite-guide')
    expect(await readFile(join(folder, 'bot-quickstart/.botcli.json'), 'utf8')).toBe(remembered)
  })

  it('keeps what an earlier project has left, and that is told', async () => {
    await init(`x1 -t webrtc ${CASCADE} --eval`)
    const { stdout } = await init(`x1 -t webrtc ${CASCADE} --force`)
    expect(stdout).toMatch(/left of the one that was here: server\/evals\//)
    const { files } = JSON.parse(await readFile(join(folder, 'x1/.botcli.json'), 'utf8'))
    expect(Object.keys(files).filter((path) => path.startsWith('server/evals/')).length).toBeGreaterThan(0)
  })
})
