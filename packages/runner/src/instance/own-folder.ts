import { statSync } from 'node:fs'

/**
 * Whether a folder belongs to the user that we run as, so that what we make in it need not be open to anybody else. In a container we may be
 * another user than the one that made the folder and reads it; then the folder above, which we cannot see, keeps others out.
 */
export function isOwnFolder(folder: string): boolean {
  const own = process.getuid?.()
  return own === undefined || statSync(folder).uid === own
}
