import { lstat, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ANSWERS_FILE, type Answers, answersFile, readAnswers } from '../answers.ts'
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
      const existing = await readOwnFile(join(folder.path, path))
      return reviewGuide({ path, planned: content, existing, ...facts }, policy)
    }),
  )
}

/** The text of a file of ours; nothing where there is no file, or none that we may read. */
export async function readOwnFile(place: string): Promise<string | undefined> {
  const entry = await unless([...NOTHING_THERE, ...FORBIDDEN], () => lstat(place))
  const text = await unless([...NOTHING_THERE, ...FORBIDDEN, 'ELOOP'], async () =>
    // A pipe would keep us waiting for ever.
    (await stat(place)).isFile() ? readFile(place, 'utf8') : undefined,
  )
  // A link that leads nowhere is kept like any guide of the user's.
  return text ?? (entry?.isSymbolicLink() ? '' : undefined)
}

/** A whole project beside what is on disk. */
export interface ProjectComparison extends Comparison {
  /** Files that an earlier project has left here and that are no part of this one. */
  readonly left: readonly string[]
}

/** Compares a whole project with a folder: its files, and the one that remembers the answers. */
export async function compareProject(
  folder: ProjectFolder,
  files: readonly PlannedFile[],
  made: Pick<Answers, 'version' | 'configuration'>,
  policy: ComparePolicy,
): Promise<ProjectComparison> {
  try {
    const compared = await compare(folder, files, policy)
    const before = (await answersIn(folder))?.files ?? {}
    const planned = new Set(files.map(({ path }) => path))
    const left = Object.keys(before).filter((path) => !planned.has(path))
    return { ...(await withAnswers(compared, { ...made, files: before }, policy)), left }
  } catch (error) {
    throw asScaffoldError(error, folder.path)
  }
}

/** Compares guides with a folder, and what is remembered of them if a project is there. */
export async function compareGuides(
  folder: ProjectFolder,
  files: readonly PlannedFile[],
  policy: ComparePolicy,
): Promise<Comparison> {
  try {
    const compared = await compare(folder, files, policy)
    const answers = await answersIn(folder)
    return answers === undefined ? compared : await withAnswers(compared, answers, policy)
  } catch (error) {
    throw asScaffoldError(error, folder.path)
  }
}

async function withAnswers(
  compared: Comparison,
  answers: Answers,
  policy: ComparePolicy,
): Promise<Comparison> {
  const written = compared.files.filter(({ status }) => status !== 'keep')
  const { folder, files } = await compare(compared.folder, [answersFile(answers, written)], policy)
  return { folder, files: [...compared.files, ...files] }
}

/** What a folder remembers, without files that are gone. */
async function answersIn(folder: ProjectFolder): Promise<Answers | undefined> {
  const text = await readOwnFile(join(folder.path, ANSWERS_FILE))
  const answers = text === undefined ? undefined : readAnswers(text)
  if (answers === undefined) return undefined
  const kept = await Promise.all(
    Object.entries(answers.files).map(async (entry) => {
      const there = await unless([...NOTHING_THERE, ...FORBIDDEN], () => lstat(join(folder.path, entry[0])))
      return there === undefined ? [] : [entry]
    }),
  )
  return { ...answers, files: Object.fromEntries(kept.flat()) }
}
