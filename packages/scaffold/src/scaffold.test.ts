import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readAnswers } from './answers.ts'
import { compareProject, openFolder, reviewGuides } from './disk/project.ts'
import { write } from './disk/write.ts'
import type { PlannedFile } from './plan.ts'
import { QUICKSTART_CONFIGURATION } from './resolve/quickstart.ts'
import { checkPlan, planProject } from './scaffold.ts'
import { sha256 } from './sha256.ts'
import { anyConfiguration } from './testing/arbitrary.ts'
import { freshFolder, snapshot } from './testing/folders.ts'

const WHEEL = Buffer.from([80, 75, 0, 255])
const MADE = { version: '0.1.0', configuration: QUICKSTART_CONFIGURATION }
const PLAN = planProject({ configuration: QUICKSTART_CONFIGURATION, wheel: WHEEL })

async function scaffold(root: string, force = false, guides: readonly string[] = []): Promise<void> {
  const folder = await openFolder(root)
  await write(await compareProject(folder, PLAN, MADE, { force, replaceGuides: new Set(guides) }))
}

describe('a plan', () => {
  it('has what every project has', () => {
    expect(PLAN.map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        'AGENTS.md',
        'ASSISTANT.md',
        'README.md',
        '.gitignore',
        'server/bot.py',
        'server/pyproject.toml',
        'server/.env.example',
        'server/Dockerfile',
        'server/deploy.toml',
      ]),
    )
    expect(PLAN.map(({ path }) => path)).not.toContain('GETTING_STARTED.md')
    expect(PLAN.find(({ path }) => path.endsWith('.whl'))?.bytes).toBe(WHEEL)
  })

  it('is always the same for a configuration, and fits on every disk', () => {
    fc.assert(
      fc.property(anyConfiguration, (configuration) => {
        const plan = planProject({ configuration, wheel: WHEEL })
        expect(planProject({ configuration, wheel: WHEEL })).toEqual(plan)
        const paths = plan.map(({ path }) => path)
        expect(paths.includes('server/Dockerfile')).toBe(configuration.deployToCloud)
        expect(paths.includes('server/deploy.toml')).toBe(configuration.deployToCloud)
        expect(paths.some((path) => path.startsWith('server/evals/'))).toBe(configuration.evals)
        expect(paths.includes('client/package.json')).toBe(configuration.clientFramework !== 'none')
        expect(plan.filter(({ content, bytes }) => bytes === undefined && !content.endsWith('\n'))).toEqual(
          [],
        )
      }),
      { numRuns: 40 },
    )
  })

  it.each([
    [['a', 'a']],
    [['README.md', 'readme.md']],
    [['server', 'server/bot.py']],
    [['Server/a', 'server/b']],
    [['.botcli.json']],
    [['../a']],
    [['/a']],
    [['a//b']],
    [['a:b']],
  ])('of %j is refused', (paths) => {
    const files = paths.map((path): PlannedFile => ({ path, content: '' }))
    expect(() => checkPlan(files)).toThrow(expect.objectContaining({ code: 'plan_invalid' }))
  })
})

describe('a project on disk', () => {
  it('remembers what it was made from, with the hash of every file', async () => {
    const root = join(await freshFolder(), 'bot-quickstart')
    await scaffold(root)
    const answers = readAnswers(await readFile(join(root, '.botcli.json'), 'utf8'))
    expect(answers?.configuration).toEqual(QUICKSTART_CONFIGURATION)
    expect(Object.keys(answers?.files ?? {})).toEqual(PLAN.map(({ path }) => path).toSorted())
    for (const [path, hash] of Object.entries(answers?.files ?? {})) {
      expect(sha256(await readFile(join(root, path)))).toBe(hash)
    }
    const before = await snapshot(root)
    await scaffold(root)
    expect(await snapshot(root)).toEqual(before)
  })

  it('lives with what was there: the guide is kept, the ignore file merged, the hashes are those on disk', async () => {
    const root = await freshFolder()
    await mkdir(join(root, '.git'))
    await writeFile(join(root, 'AGENTS.md'), '# mine\n')
    await writeFile(join(root, '.gitignore'), 'mine\n')
    await scaffold(root)
    expect(await readFile(join(root, 'AGENTS.md'), 'utf8')).toBe('# mine\n')
    const answers = readAnswers(await readFile(join(root, '.botcli.json'), 'utf8'))
    expect(answers?.files['AGENTS.md']).toBeUndefined()
    expect(answers?.files['.gitignore']).toBe(sha256(await readFile(join(root, '.gitignore'))))
    await scaffold(root, false, ['AGENTS.md'])
    expect(await readFile(join(root, 'AGENTS.md'), 'utf8')).toContain('deepgram_stt')
  })

  it('is not written over by another one, unless that is wanted', async () => {
    const root = await freshFolder()
    await scaffold(root)
    await writeFile(join(root, 'server/bot.py'), 'mine\n')
    const before = await snapshot(root)
    await expect(scaffold(root)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('server/bot.py: '),
    })
    expect(await snapshot(root)).toEqual(before)
    await scaffold(root, true)
    expect(await readFile(join(root, 'server/bot.py'), 'utf8')).not.toBe('mine\n')
  })

  it('has its guides looked at', async () => {
    const root = await freshFolder()
    const facts = { version: '0.1.0', command: 'botcli init . --overwrite-guide' }
    const policy = { overwrite: false, interactive: false }
    const look = async (): Promise<readonly string[]> =>
      (await reviewGuides(await openFolder(root), PLAN, facts, policy)).map(
        ({ path, state }) => `${path} ${state}`,
      )
    expect(await look()).toEqual(['AGENTS.md absent', 'ASSISTANT.md absent'])
    await scaffold(root)
    expect(await look()).toEqual(['AGENTS.md same', 'ASSISTANT.md same'])
    await rm(join(root, 'ASSISTANT.md'))
    await writeFile(join(root, 'AGENTS.md'), '# mine\n')
    expect(await look()).toEqual(['AGENTS.md foreign', 'ASSISTANT.md absent'])
  })
})
