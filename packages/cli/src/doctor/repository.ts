import { dirname, join } from 'node:path'
import { ANSWERS_FILE, readAnswers } from '@botcli/scaffold'
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

/** Whether git leaves out a file of the project that it does not have; not when there is no git or no repository. */
export async function isIgnored(subject: Subject, path: string): Promise<boolean> {
  if (!(await isInRepository(subject.project.folder))) return false
  const answer = await subject.run('git', ['check-ignore', '-q', '--', path])
  return answer.kind === 'ended' && answer.code === 0
}

/** Whether git has a file of the project; not when there is no git or no repository. */
export async function isTracked(subject: Subject, path: string): Promise<boolean> {
  if (!(await isInRepository(subject.project.folder))) return false
  const answer = await subject.run('git', ['ls-files', '--error-unmatch', '--', path])
  return answer.kind === 'ended' && answer.code === 0
}

/** Where git has the answers of the project in a state that can be read, as words for `git checkout`. */
export async function versionWithAnswers(subject: Subject): Promise<readonly string[] | undefined> {
  if (!(await isInRepository(subject.project.folder))) return undefined
  for (const version of [[], ['HEAD']]) {
    const answer = await subject.run('git', ['show', `${version.join('')}:./${ANSWERS_FILE}`])
    if (answer.kind === 'ended' && answer.code === 0 && readAnswers(answer.stdout) !== undefined)
      return version
  }
  return undefined
}
