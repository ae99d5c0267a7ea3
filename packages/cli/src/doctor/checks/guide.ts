import { join } from 'node:path'
import { botcliVersion, compareVersions, GUIDE_FILES, readStamp } from '@botcli/scaffold'
import { readText } from '../files.ts'
import { type Finding, ok, warning } from '../finding.ts'
import type { Subject } from '../subject.ts'

/** Whether the guides for coding agents tell of this version. Those of others are theirs. */
export async function checkGuide({ project, shell }: Subject): Promise<Finding | undefined> {
  const version = botcliVersion()
  const texts = await Promise.all(GUIDE_FILES.map((name) => readText(join(project.folder, name))))
  const stamps = GUIDE_FILES.flatMap((name, index) => {
    const text = texts[index]
    const stamp = text === undefined ? undefined : readStamp(text)
    return stamp === undefined
      ? []
      : [{ name, age: compareVersions(stamp.version, version), of: stamp.version }]
  })
  const refresh = `botcli init ${shell.target(project.folder)} --overwrite-guide`
  const older = stamps.find(({ age }) => age < 0)
  if (older !== undefined) {
    return warning(`${older.name} was written by botcli ${older.of}; this is ${version}`, refresh)
  }
  const newer = stamps.find(({ age }) => age > 0)
  if (newer !== undefined) {
    const message = `${newer.name} was written by botcli ${newer.of}; this is ${version}, which is older`
    return warning(message, `Use botcli ${newer.of} or newer for this project`)
  }
  if (stamps.length > 0) return ok(`${stamps.map(({ name }) => name).join(', ')} of this version`)
  const isMissing = project.hasAnswers && texts[0] === undefined
  return isMissing ? warning(`${GUIDE_FILES[0]} is not there`, refresh) : undefined
}
