import { lstat, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { answersFile } from '../answers.ts'
import type { Configuration } from '../configuration.ts'
import { GUIDE_FILES, type GuidePolicy, type GuideReview, reviewGuide } from '../guide/rules.ts'
import type { PlannedFile } from '../plan.ts'
import { type ComparePolicy, type Comparison, compare } from './compare.ts'
import { asScaffoldError, FORBIDDEN, NOTHING_THERE, unless } from './failure.ts'
import { inspectFolder, type ProjectFolder } from './folder.ts'
import { type Owners, repair } from './stage.ts'

/** Looks at the folder that a project goes into, and mends what a killed run has left there. */
export async function openFolder(directory: string, owners?: Owners): Promise<ProjectFolder> {
  const folder = await inspectFolder(directory)
  try {
    await repair(folder, owners)
  } catch (error) {
    throw asScaffoldError(error, folder.path)
  }
  // What was mended may have been the folder itself.
  return inspectFolder(directory)
}

/** What is decided about the guides among some files. */
export async function reviewGuides(
  folder: ProjectFolder,
  files: readonly PlannedFile[],
  facts: { readonly version: string; readonly command: string },
  policy: GuidePolicy,
): Promise<readonly GuideReview[]> {
  const guides = files.filter(({ path }) => GUIDE_FILES.includes(path))
  return Promise.all(
    guides.map(async ({ path, content }) => {
      const existing = await readGuide(join(folder.path, path))
      return reviewGuide({ path, planned: content, existing, ...facts }, policy)
    }),
  )
}

/** The text of a guide; nothing where there is no file, or none that we may read. */
async function readGuide(place: string): Promise<string | undefined> {
  const entry = await unless([...NOTHING_THERE, ...FORBIDDEN], () => lstat(place))
  const text = await unless([...NOTHING_THERE, ...FORBIDDEN, 'ELOOP'], async () =>
    // A pipe would keep us waiting for ever.
    (await stat(place)).isFile() ? readFile(place, 'utf8') : undefined,
  )
  // A link that leads nowhere is kept like any guide of the user's.
  return text ?? (entry?.isSymbolicLink() ? '' : undefined)
}

/** Compares a whole project with a folder: its files, and the one that remembers the answers. */
export async function compareProject(
  folder: ProjectFolder,
  files: readonly PlannedFile[],
  made: { readonly version: string; readonly configuration: Configuration },
  policy: ComparePolicy,
): Promise<Comparison> {
  try {
    const first = await compare(folder, files, policy)
    const written = first.files.filter(({ status }) => status !== 'keep')
    const second = await compare(folder, [answersFile(made.version, made.configuration, written)], policy)
    return { folder, files: [...first.files, ...second.files] }
  } catch (error) {
    throw asScaffoldError(error, folder.path)
  }
}
