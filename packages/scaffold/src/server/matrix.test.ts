import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { clientFiles } from '../client/index.ts'
import type { PlannedFile } from '../plan.ts'
import { allCases, configured } from '../testing/server-matrix.ts'
import { rootFiles, serverFiles, wheelPath } from './index.ts'
import { projectVariables } from './variables.ts'

interface Project {
  readonly name: string
  readonly files: Readonly<Record<string, string>>
  /** Variables that a library or the runner reads. */
  readonly elsewhere: readonly string[]
}

/** One process of Python for all projects. */
function problemsOf(projects: readonly Project[]): readonly string[] {
  const script = join(import.meta.dirname, '../testing/check_projects.py')
  const { status, stdout, stderr } = spawnSync('python3', [script], {
    input: JSON.stringify(projects),
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  if (status !== 0) throw new Error(stderr)
  return JSON.parse(stdout)
}

function projectOf({ name, configuration }: ReturnType<typeof allCases>[number]): Project {
  const files: readonly PlannedFile[] = [
    ...serverFiles(configuration),
    { path: wheelPath(), content: '\n' },
    ...rootFiles(configuration),
    ...clientFiles(configuration),
  ]
  return {
    name,
    files: Object.fromEntries(files.map(({ path, content }) => [path, content])),
    elsewhere: projectVariables(configuration)
      .filter(({ readBy }) => readBy !== 'project')
      .map(({ name }) => name),
  }
}

let projects: readonly Project[]
beforeAll(() => {
  projects = allCases().map(projectOf)
})

it('covers every service, transport and pair of features, each once', () => {
  expect(projects.length).toBeGreaterThan(450)
  expect(new Set(projects.map(({ name }) => name)).size).toBe(projects.length)
})

it('generates files that parse, agree with their env file, and have no name too few or too many', () => {
  expect(problemsOf(projects)).toEqual([])
})

it('would notice', () => {
  const project = projectOf({
    name: 'whole',
    configuration: configured({ deployToCloud: true, clientFramework: 'vanilla', clientServer: 'vite' }),
  })
  const broken = (path: string, change: (text: string) => string) => {
    const text = project.files[path] ?? ''
    const changed = change(text)
    expect(changed).not.toBe(text)
    return problemsOf([{ ...project, files: { ...project.files, [path]: changed } }])
  }
  const bot = 'server/bot.py'
  expect(broken(bot, (text) => text.replace('stt = ', 'stt = ('))).toHaveLength(3)
  expect(new Set(broken(bot, (text) => text.replace('    context = ', '    contexts = ')))).toEqual(
    new Set([
      expect.stringContaining('contexts in run_bot is not used'),
      expect.stringContaining('context is not defined'),
    ]),
  )
  expect(broken(bot, (text) => text.replace('from loguru', 'import os\nfrom loguru'))).toEqual([
    expect.stringContaining('os is imported and not used'),
  ])
  expect(broken(bot, (text) => text.replace('"OPENAI_API_KEY"', '"OPENAI_KEY"'))).toEqual([
    expect.stringContaining('OPENAI_KEY is read and not in .env.example'),
  ])
  expect(broken('server/.env.example', (text) => `${text}# Nobody reads it\n# NOBODY=\n`)).toEqual([
    expect.stringContaining('NOBODY is in .env.example and read by nobody'),
  ])
  expect(
    broken('server/.env.example', (text) => text.replace('# CARTESIA_VOICE_ID', 'CARTESIA_VOICE_ID')),
  ).not.toEqual([])
  expect(broken('server/pyproject.toml', (text) => text.replace('"my-bot"', '"my-bot'))).toHaveLength(1)
  expect(broken('server/Dockerfile', (text) => text.replace('COPY wheels', 'COPY weels'))).toEqual([
    expect.stringContaining('weels does not exist'),
  ])
  expect(broken('client/package.json', (text) => text.replace('"name"', 'name'))).toHaveLength(1)
  const evals = projectOf({ name: 'evals', configuration: configured({ evals: true }) })
  const path = 'server/evals/starter_text.yaml'
  const files = { ...evals.files, [path]: evals.files[path]?.replace('within_ms', 'withn_ms') ?? '' }
  expect(problemsOf([{ ...evals, files }])).toEqual([
    expect.stringContaining('withn_ms is no key of a expect'),
  ])
})
