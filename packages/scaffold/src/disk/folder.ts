import { lstat, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ScaffoldError } from '../errors.ts'
import { codeOf } from './failure.ts'

/** The folder that a project goes into. */
export interface ProjectFolder {
  /** Absolute, without symbolic links as far as it exists. */
  readonly path: string
  /** The folders that have to be made, from the first on; none when it exists. */
  readonly missing: readonly string[]
  /** Where the first of them is missing; the folder itself when it exists. */
  readonly base: string
}

/** Looks at an absolute path. What cannot become a project is an error. */
export async function inspectFolder(directory: string): Promise<ProjectFolder> {
  const missing: string[] = []
  let place = directory
  for (;;) {
    const real = await realFolder(place, directory)
    if (real !== undefined) return { path: join(real, ...missing), missing, base: real }
    missing.unshift(basename(place))
    place = dirname(place)
  }
}

/** The real path of a folder, or nothing if there is nothing. */
async function realFolder(place: string, directory: string): Promise<string | undefined> {
  try {
    const real = await realpath(place)
    if ((await stat(real)).isDirectory()) return real
  } catch (error) {
    // There is always something at the root.
    if (codeOf(error) === 'ENOENT' && dirname(place) !== place) return dangling(place, directory)
    if (codeOf(error) === 'ENOTDIR' && dirname(place) !== place) return realFolder(dirname(place), directory)
    throw unusable(directory, reasonOf(error))
  }
  throw unusable(directory, place === directory ? 'a file is there' : `${place} is a file`)
}

async function dangling(place: string, directory: string): Promise<undefined> {
  const found = await lstat(place).catch(() => undefined)
  if (found === undefined) return undefined
  throw unusable(directory, `${place} is a symbolic link to something that does not exist`)
}

function reasonOf(error: unknown): string {
  switch (codeOf(error)) {
    case 'EACCES':
      return 'permission denied'
    case 'ELOOP':
      return 'a symbolic link there leads back to itself'
    case 'ENAMETOOLONG':
      return 'the path is too long'
    default:
      return error instanceof Error ? error.message : String(error)
  }
}

function unusable(directory: string, reason: string): ScaffoldError {
  return new ScaffoldError('target_unusable', `${directory} cannot be made a project: ${reason}.`)
}
