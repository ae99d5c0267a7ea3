import { cp, mkdtemp, readFile, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Installers, placeOf } from './installers.ts'
import { makeProject, PACKAGE } from './project.ts'

const found = await Installers.open()
if ('skipped' in found) {
  process.stdout.write(`suite wheel: skipped: ${found.skipped}\n`)
  it.skip(`the wheel in a project (${found.skipped})`)
} else describe('the wheel in a project', () => installed(found))

function installed(installers: Installers): void {
  let root: string
  let project: string

  beforeEach(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), 'botcli-wheel-')))
    // Names that have to be spelled differently in a URL.
    project = join(root, 'my böt')
    await makeProject(project)
  })
  afterEach(() => rm(root, { recursive: true, force: true }))
  afterAll(() => installers.close())

  it('is installed by pip install .', async () => {
    const own = join(root, 'environment')
    await installers.environment(own)
    await installers.pip(own, ['install', '.'], project)
    expect(await placeOf(own)).toMatch(/environment\/lib\/.*\/site-packages\/botcli\/__init__\.py$/)
    await installers.pip(own, ['check'], project)
    await installers.pip(own, ['install', '-e', '.'], project)
    await installers.pip(own, ['check'], project)
  })

  it('is installed by uv sync, with a lock file that holds in any folder', async () => {
    await installers.uv(['sync'], project)
    expect(await placeOf(join(project, '.venv'))).toContain('site-packages/botcli/__init__.py')
    const lock = await readFile(join(project, 'uv.lock'), 'utf8')
    expect(lock).toContain('path = "wheels/botcli-')
    expect(lock).not.toContain(root)
    const clone = join(root, 'elsewhere/clone')
    await cp(project, clone, { recursive: true, filter: (path) => !path.endsWith('.venv') })
    await rm(project, { recursive: true })
    await installers.uv(['sync', '--locked'], clone)
    expect(await placeOf(join(clone, '.venv'))).toContain('clone/.venv/lib/')
  })

  it('is not needed to install the sources, which need no index either', async () => {
    const own = join(root, 'environment')
    await installers.environment(own)
    await installers.pip(own, ['install', '--no-index', PACKAGE], root)
    expect(await placeOf(own)).toContain('site-packages/botcli/__init__.py')
    await installers.pip(own, ['install', '--no-index', '-e', PACKAGE], root)
    expect(await placeOf(own)).toBe(join(PACKAGE, 'src/botcli/__init__.py'))
    await installers.uv(['pip', 'install', '--offline', '--reinstall', '-p', own, PACKAGE], root)
    expect(await placeOf(own)).toContain('site-packages/botcli/__init__.py')
  })
}
