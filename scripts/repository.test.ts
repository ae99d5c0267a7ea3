import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = resolve(import.meta.dirname, '..')
const MAX_LINES = 500

/** Which package may know which, as docs/architecture.md draws it. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  audio: [],
  media: ['protocol', 'audio'],
  bot: ['protocol'],
  runner: ['protocol', 'media', 'bot'],
  cloud: ['protocol'],
  scaffold: ['protocol'],
  client: ['protocol'],
  cli: ['protocol', 'audio', 'media', 'bot', 'runner', 'cloud', 'scaffold', 'client'],
}

interface Manifest {
  readonly name: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

interface SourceFile {
  readonly path: string
  readonly text: string
  /** The folder of the package or example that it belongs to. */
  readonly home: string
  readonly isTest: boolean
}

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: ROOT })
  .toString()
  .trim()
  .split('\n')
  .filter((path) => existsSync(join(ROOT, path)))
const manifests = new Map(
  files
    .filter((path) => /^(?:(?:packages|examples)\/[^/]+\/)?package\.json$/.test(path))
    .map((path) => [path.replace(/\/?package\.json$/, ''), manifest(path)]),
)
const root = manifest('package.json')
const sources = files
  .filter((path) => /\.(?:[cm]?[jt]s|tsx)$/.test(path))
  // A bot that somebody tries out here need not be a package.
  .filter((path) => !path.startsWith('examples/') || existsSync(join(ROOT, path, '..', 'package.json')))
  // What is written into projects belongs to them, with manifests of their own.
  .filter((path) => !path.startsWith('packages/scaffold/templates/'))
  .map((path): SourceFile => {
    const home = /^(?:packages|examples)\/[^/]+/.exec(path)?.[0] ?? ''
    const isTest = /\.test\.tsx?$|\/testing\/|\/test-[^/]+$|^(?:scripts|bench)\//.test(path)
    return { path, text: readFileSync(join(ROOT, path), 'utf8'), home, isTest }
  })

function manifest(path: string): Manifest {
  return JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as Manifest
}

/** Everything that a file imports, by name. Imports are in single quotes; in double ones there is code that a test writes. */
function importsOf({ text }: SourceFile): readonly string[] {
  const code = text.replaceAll(/"(?:[^"\\\n]|\\.)*"/g, '""')
  const found = code.matchAll(/(?:^|[\s;}])(?:from|import)\s*\(?\s*'([^'\n]+)'|\.resolve\('(@[^'\n]+)'\)/g)
  return [...found].map((match) => match[1] ?? match[2] ?? '')
}

/** The package that an import names, without the path inside of it. */
function packageOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}

function isBare(specifier: string): boolean {
  return /^[@a-z]/i.test(specifier) && !specifier.startsWith('node:')
}

/** The folder name of a package of ours. */
function roomOf(packageName: string): string | undefined {
  if (packageName === 'botcli') return 'cli'
  return packageName.startsWith('@botcli/') ? packageName.slice('@botcli/'.length) : undefined
}

describe('the arrows between packages', () => {
  const rooms = [...manifests.keys()].filter((home) => home.startsWith('packages/'))

  it.each(rooms)('%s has its place in the plan and declares nothing against it', (home) => {
    const room = home.slice('packages/'.length)
    const declared = Object.keys(manifests.get(home)?.dependencies ?? {}).flatMap(
      (name) => roomOf(name) ?? [],
    )
    expect(ARROWS[room]).toBeDefined()
    expect(ARROWS[room]).toEqual(expect.arrayContaining(declared))
  })

  it('hold in every import', () => {
    const wrong = sources.flatMap((file) => {
      const room = file.home.replace('packages/', '')
      const allowed = ARROWS[room]
      if (allowed === undefined) return []
      const byName = importsOf(file).flatMap((specifier) => roomOf(packageOf(specifier)) ?? [])
      const byPath = importsOf(file)
        .filter((specifier) => specifier.startsWith('.'))
        .flatMap((specifier) => /^packages\/([^/]+)/.exec(join(file.path, '..', specifier))?.[1] ?? [])
      return [...byName, ...byPath]
        .filter((target) => target !== room && !allowed.includes(target))
        .map((target) => `${file.path} -> ${target}`)
    })
    expect(wrong).toEqual([])
  })

  it('do not go around the doors: only tests import from inside of another package', () => {
    const wrong = sources
      .filter(({ isTest, home }) => !isTest && home !== '')
      .flatMap((file) =>
        importsOf(file)
          .filter((specifier) => specifier.startsWith('.'))
          .filter((specifier) => !join(file.path, '..', specifier).startsWith(`${file.home}/`))
          .map((specifier) => `${file.path} -> ${specifier}`),
      )
    expect(wrong).toEqual([])
  })
})

it('what becomes part of a bundle finds its own place only from the top of its sources, which is as deep as the bundle', () => {
  const bundled = [...manifests.keys()].filter((home) => {
    const config = join(ROOT, home, 'tsconfig.json')
    return existsSync(config) && readFileSync(config, 'utf8').includes('"emitDeclarationOnly": true')
  })
  expect(bundled).toContain('packages/cli')
  const wrong = sources
    .filter(({ home, isTest }) => bundled.includes(home) && !isTest)
    .filter(({ path, home }) => path.startsWith(`${home}/src/`) && path.split('/').length > 4)
    // Packages are found from every depth alike.
    .filter(({ text }) => text.replaceAll('createRequire(import.meta.url)', '').includes('import.meta'))
    .map(({ path }) => path)
  expect(wrong).toEqual([])
})

it(`no source file is longer than ${MAX_LINES} lines`, () => {
  const long = sources.filter(({ text }) => text.split('\n').length > MAX_LINES).map(({ path }) => path)
  expect(long).toEqual([])
})

it('every dependency is declared where it is used', () => {
  const missing = sources.flatMap((file) => {
    const own = manifests.get(file.home)
    const declared = new Set([
      own?.name,
      ...Object.keys(own?.dependencies ?? {}),
      // The page is bundled, so what it is made of is needed only to build it.
      ...(file.home === 'packages/client' ? Object.keys(own?.devDependencies ?? {}) : []),
      ...(file.isTest || file.home === '' || /config\.ts$/.test(file.path)
        ? [...Object.keys(root.devDependencies ?? {}), ...[...manifests.values()].map(({ name }) => name)]
        : []),
    ])
    return importsOf(file)
      .filter(isBare)
      .map(packageOf)
      .filter((name) => !declared.has(name))
      .map((name) => `${file.path} -> ${name}`)
  })
  expect(missing).toEqual([])
})

it('every dependency has its reason in docs/dependencies.md, and nothing else does', () => {
  const text = readFileSync(join(ROOT, 'docs/dependencies.md'), 'utf8')
  const named = [...text.matchAll(/^\| `([^`]+)` \|/gm)].map((match) => match[1])
  const declared = [...manifests.values()].flatMap(({ dependencies, devDependencies }) =>
    Object.keys({ ...dependencies, ...devDependencies }).filter((name) => roomOf(name) === undefined),
  )
  expect(named.toSorted()).toEqual([...new Set(declared)].toSorted())
})
