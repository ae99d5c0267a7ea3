import { dirname, join } from 'node:path'
import { exists } from './files.ts'
import type { Subject } from './subject.ts'

const MAX_DEPTH = 64

/** Whether a folder is in a git repository, as far as can be told without git. */
export async function isInRepository(folder: string): Promise<boolean> {
  let place = folder
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    if (await exists(join(place, '.git'))) return true
    if (dirname(place) === place) return false
    place = dirname(place)
  }
  return false
}

/** Whether git has a file of the project; not when there is no git or no repository. */
export async function isTracked(subject: Subject, path: string): Promise<boolean> {
  if (!(await isInRepository(subject.project.folder))) return false
  const answer = await subject.run('git', ['ls-files', '--error-unmatch', '--', path])
  return answer.kind === 'ended' && answer.code === 0
}
