import { dirname, join } from 'node:path'
import { optionsFor, quoteForShell } from '@botcli/scaffold'
import { isTracked } from './repository.ts'
import type { Subject } from './subject.ts'

/** The command that brings back files which the project was made with, by their paths in it. */
export async function restoreCommand(
  subject: Subject,
  paths: readonly string[],
): Promise<string | undefined> {
  const { project, shell } = subject
  const tracked = await Promise.all(paths.map((path) => isTracked(subject, path)))
  if (tracked.every((one) => one)) {
    return shell.inFolder(project.folder, `git checkout -- ${paths.map(quoteForShell).join(' ')}`)
  }
  if (project.answers === undefined) return undefined
  // A second project elsewhere, because this one may have changes of the user's, which stay.
  const options = optionsFor(project.answers.configuration, '').map(quoteForShell).join(' ')
  const copies = paths.map(
    (path) => `cp "$fresh"/${path} ${shell.path(join(project.folder, dirname(path)))}/`,
  )
  return ['fresh=$(mktemp -d)', `botcli init "$fresh" ${options}`, ...copies].join(' && ')
}
