import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { clientFiles } from '../client/index.ts'
import type { Configuration } from '../configuration.ts'
import { mergeLines } from '../disk/merge-lines.ts'
import { clientCases, configured } from '../testing/server-matrix.ts'
import { rootFiles, serverFiles, wheelPath } from './index.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'botcli-ignore-'))
  git(['init', '-q'])
})
afterEach(() => rm(folder, { recursive: true, force: true }))

function git(args: readonly string[], input = ''): string {
  const env = { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' }
  const { error, stdout } = spawnSync('git', args, { cwd: folder, input, encoding: 'utf8', env })
  if (error !== undefined) throw error
  return stdout
}

/** Those of some paths that git would not see in a project. */
async function hidden(configuration: Configuration, paths: readonly string[]): Promise<readonly string[]> {
  const files = [...rootFiles(configuration), ...clientFiles(configuration)]
  for (const { path, content } of files.filter((file) => file.path.endsWith('.gitignore'))) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), content)
  }
  return git(['check-ignore', '--no-index', '--stdin'], paths.join('\n')).split('\n').filter(Boolean)
}

it('hides no file of any client, nor of the server', async () => {
  for (const { name, configuration } of clientCases()) {
    const whole = { ...configuration, evals: true, deployToCloud: true }
    const files = [...serverFiles(whole), ...rootFiles(whole), ...clientFiles(whole)]
    const paths = [
      ...files.map(({ path }) => path),
      wheelPath(),
      'server/uv.lock',
      '.botcli.json',
      'AGENTS.md',
    ]
    expect([name, await hidden(whole, paths)]).toEqual([name, []])
  }
})

/** As in repositories of Python and of Node. */
const USUAL = [
  ...['__pycache__/', '*.py[cod]', 'build/', 'dist/', 'downloads/', 'eggs/', 'lib/', 'lib64/', 'parts/'],
  ...['sdist/', 'var/', 'wheels/', '*.whl', '*.egg-info/', '*.log', 'env/', 'venv/', '.env', '.env*'],
  ...['!.env.example', '.env*', 'public', 'out', 'node_modules/', 'package-lock.json', 'evals/', 'tests/'],
  ...['.DS_Store', '*.pem', '.idea/'],
].join('\n')

it.each([
  ['behind whose lines ours are merged', ''],
  ['around it', 'bots/mine/'],
])(
  'commits every file that was written in a repository %s, and nothing else that it hides',
  async (_, at) => {
    for (const { name, configuration } of [
      ...clientCases(),
      { name: 'server', configuration: configured() },
    ]) {
      const whole = { ...configuration, evals: true, deployToCloud: true }
      await writeFile(join(folder, '.gitignore'), USUAL)
      const files = [...serverFiles(whole), ...rootFiles(whole), ...clientFiles(whole)]
      for (const { path, content } of files) {
        const place = join(folder, at, path)
        const before = await readFile(place).catch(() => undefined)
        await mkdir(dirname(place), { recursive: true })
        const merges = path === '.gitignore' && before !== undefined
        await writeFile(place, merges ? mergeLines(before, Buffer.from(content)) : content)
      }
      const paths = [...files.map(({ path }) => path), wheelPath(), '.botcli.json', 'AGENTS.md']
      const secrets = [
        'server/.env',
        'client/.env.local',
        'server/key.pem',
        'server/.idea/x',
        'server/other.whl',
      ]
      const input = [...paths, ...secrets].map((path) => `${at}${path}`).join('\n')
      const ignored = git(['check-ignore', '--no-index', '--stdin'], input).split('\n').filter(Boolean)
      expect([name, ignored]).toEqual([name, secrets.map((path) => `${at}${path}`)])
      await rm(join(folder, at), { recursive: true, force: true })
      await mkdir(folder, { recursive: true })
      git(['init', '-q'])
    }
  },
)

it('hides secrets, and what running, testing and building leave behind', async () => {
  const client = { clientFramework: 'react', clientServer: 'nextjs' } as const
  const paths = [
    'server/.env',
    'server/.env.local',
    'client/.env.local',
    'server/.venv/bin/python',
    'server/__pycache__/bot.cpython-312.pyc',
    'server/tests/__pycache__/test_bot.cpython-312.pyc',
    'server/.ruff_cache/0/1',
    'server/recordings/call.wav',
    'server/starter_text__answers.eval.log',
    'server/starter_text__answers.conversation.json',
    'server/judged.jsonl',
    'server/eval-runs/1/results.jsonl',
    'client/node_modules/react/index.js',
    'client/.next/cache',
    'client/dist/index.html',
  ]
  expect(await hidden(configured({ ...client, evals: true, recording: true }), paths)).toEqual(paths)
})
