import { readFile } from 'node:fs/promises'
import { findPythonWheel } from '@botcli/runner/python-package'
import {
  botcliVersion,
  type Configuration,
  compareProject,
  conflictsOf,
  nextSteps,
  openFolder,
  planProject,
  write,
} from '@botcli/scaffold'
import { decideGuides } from './guides.ts'
import type { Manner } from './manner.ts'
import type { Outcome } from './outcome.ts'
import type { Place } from './place.ts'

/** Writes a project. */
export async function makeProject(
  place: Place,
  configuration: Configuration,
  notices: readonly string[],
  manner: Manner,
): Promise<Outcome> {
  const folder = await openFolder(place.path)
  const files = planProject({ configuration, wheel: await readFile(findPythonWheel()) })
  const guides = await decideGuides(place, folder, files, manner)
  const policy = { replaceGuides: guides.replace, force: manner.force }
  const made = { version: botcliVersion(), configuration }
  let comparison = await compareProject(folder, files, made, policy)
  const conflicts = conflictsOf(comparison)
  if (conflicts.length > 0) {
    if (!(await manner.asker?.overwrite(conflicts))) return { kind: 'conflict', place, conflicts }
    comparison = await compareProject(folder, files, made, { ...policy, force: true })
    const left = conflictsOf(comparison)
    if (left.length > 0) return { kind: 'conflict', place, conflicts: left }
  }
  await write(comparison, { signal: manner.signal })
  return {
    kind: 'project',
    place,
    configuration,
    files: comparison.files,
    notices: [...notices, ...guides.notices, ...leftNotice(comparison.left)],
    steps: nextSteps(configuration),
  }
}

function leftNotice(left: readonly string[]): readonly string[] {
  if (left.length === 0) return []
  return [`No part of this project, but left of the one that was here: ${left.join(', ')}.`]
}
