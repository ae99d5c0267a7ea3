import { access, constants, mkdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isDiskFull } from './disk-full.ts'
import { CloudError, codeOf } from './errors.ts'

/** What the system says, in words. */
const REASONS: Readonly<Record<string, string>> = {
  ENOTDIR: 'it is no folder, or lies below something that is none',
  EEXIST: 'something else has its name',
  EACCES: 'you may not write there',
  EPERM: 'you may not write there',
  EROFS: 'nothing can be written there',
  ENOENT: 'no folder can be made there',
  ENAMETOOLONG: 'its path is too long',
  ELOOP: 'its path goes in circles',
}

/** Makes a data folder and the folders in it, for this user only. One that was there before may be open to others; what is in it is not. */
export async function makeDataFolder(folder: string, inside: readonly string[]): Promise<void> {
  try {
    await makeFolder(folder)
    for (const name of inside) await makeFolder(join(folder, name))
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    if (isDiskFull(cause)) throw cause
    const code = codeOf(cause)
    if (code === '') throw cause
    const why = REASONS[code] === undefined ? code : `${REASONS[code]} (${code})`
    throw new CloudError(
      'UNAVAILABLE',
      `The data folder ${folder} cannot be used: ${why}. Choose another one with --data.`,
      { cause },
    )
  }
}

/** Step by step: in a file system that takes no folders, such as /proc, making all of a path in one go never ends. */
async function makeFolder(folder: string): Promise<void> {
  const missing: string[] = []
  for (let path = folder; !(await isFolder(path)); path = dirname(path)) missing.unshift(path)
  for (const path of missing) {
    await mkdir(path, { mode: 0o700 }).catch(async (error: unknown) => {
      // Somebody else may have made it meanwhile.
      if (codeOf(error) !== 'EEXIST' || !(await isFolder(path))) throw error
    })
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    const found = await stat(path)
    if (found.isDirectory()) return true
    throw Object.assign(new Error(`${path} is no folder.`), { code: 'ENOTDIR' })
  } catch (error) {
    if (codeOf(error) === 'ENOENT' && dirname(path) !== path) return false
    throw error
  }
}
