import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Our own packages, by their names alone or as npm is told to install them. */
const OURS = /^(?:botcli|@botcli\/[\w-]+)(?:@.*)?$|(?:^|\/)botcli[^/]*\.tgz$/

/** Where the files of npm name what is to be installed. */
const LISTS = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'] as const
const LOCKS = ['package-lock.json', 'npm-shrinkwrap.json']
const LOCKED = 'node_modules/'

/** Whether npm would be told to install one of our own packages. */
export function isOwnPackage(word: string): boolean {
  return OURS.test(word)
}

/** How build files of ours name the packages that a cloud puts beside them, or else the published one. */
const BESIDE = /\$\(ls \.\/botcli\*\.tgz[^()]*\)/

/** Whether a command of a build file installs botcli and nothing else. */
export function installsOnlyOwn(command: string): boolean {
  const [program, verb, ...rest] = command
    .replace(/^RUN\s+/, '')
    .replace(BESIDE, 'botcli')
    .split(/\s+/)
  const packages = rest.filter((word) => !word.startsWith('-'))
  return program === 'npm' && verb === 'install' && packages.length > 0 && packages.every(isOwnPackage)
}

/**
 * Takes our own packages out of what a project of a bundle installs: the runner brings them itself, in its own version. Gives the names of
 * those that were asked for. What cannot be read is left as it is; npm says what is wrong with it.
 */
export async function leaveOutOwnPackages(folder: string): Promise<readonly string[]> {
  const path = join(folder, 'package.json')
  const manifest = await readObject(path)
  const names = manifest === undefined ? [] : without(manifest)
  if (names.length === 0) return []
  await writeFile(path, JSON.stringify(manifest, null, 2))
  for (const lock of LOCKS) await leaveOutOfLock(join(folder, lock))
  return names
}

/** A lock has to say the same as the project, or npm does not take it. */
async function leaveOutOfLock(path: string): Promise<void> {
  const lock = await readObject(path)
  if (lock === undefined || !isObject(lock.packages)) return
  const root = lock.packages['']
  if (isObject(root)) without(root)
  for (const place of Object.keys(lock.packages)) {
    const [before, name = ''] = place.split(LOCKED)
    // With all that npm would put below it.
    if (before === '' && isOwnPackage(name.replace(/\/$/, ''))) delete lock.packages[place]
  }
  await writeFile(path, JSON.stringify(lock, null, 2))
}

/** Takes them out of the lists of a package, and gives their names. */
function without(manifest: Record<string, unknown>): readonly string[] {
  const names = new Set<string>()
  for (const key of LISTS) {
    const list = manifest[key]
    if (!isObject(list)) continue
    for (const name of Object.keys(list).filter(isOwnPackage)) {
      delete list[name]
      names.add(name)
    }
  }
  return [...names]
}

async function readObject(path: string): Promise<Record<string, unknown> | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
