import { join } from 'node:path'
import { exists } from '../files.ts'
import { type Finding, fault, ok } from '../finding.ts'
import { restoreCommand } from '../restore.ts'
import type { Subject } from '../subject.ts'

const FILES = ['server/Dockerfile', 'server/deploy.toml']

/** Whether the files are there that the cloud needs, if the project is meant for it. */
export async function checkCloud(subject: Subject): Promise<Finding | undefined> {
  const { answers, folder } = subject.project
  if (answers?.configuration.deployToCloud !== true) return undefined
  const found = await Promise.all(FILES.map((path) => exists(join(folder, path))))
  const missing = FILES.filter((_, index) => !found[index])
  // Whether an image can be built depends on much that is not here, so no word about that.
  if (missing.length === 0) return ok(`${FILES.join(' and ')} are there; no image was built`)
  const verb = missing.length === 1 ? 'is' : 'are'
  return fault(`${missing.join(' and ')} ${verb} not there`, await restoreCommand(subject, missing))
}
