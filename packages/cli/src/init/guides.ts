import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  AGENTS_FILE,
  ANSWERS_FILE,
  botcliVersion,
  type Configuration,
  compareGuides,
  conflictsOf,
  type GuideReview,
  openFolder,
  type PlannedFile,
  type ProjectFolder,
  planGuides,
  readOwnFile,
  readStamp,
  reviewGuides,
  ScaffoldError,
  write,
} from '@botcli/scaffold'
import type { Manner } from './manner.ts'
import type { Outcome } from './outcome.ts'
import { type Place, recall, refreshCommand } from './place.ts'

/** Where a project that we made has its bot. */
const BOT_FILE = 'server/bot.py'

/** Writes the guides alone: those of a project, or those for a coding agent that is to make one. */
export async function makeGuides(
  place: Place,
  configuration: Configuration | undefined,
  manner: Manner,
): Promise<Outcome> {
  if (configuration === undefined) await expectNoBot(place)
  const folder = await openFolder(place.path)
  const files = planGuides(configuration)
  const guides = await decideGuides(place, folder, files, manner)
  const comparison = await compareGuides(folder, files, {
    replaceGuides: guides.replace,
    force: manner.force,
  })
  const conflicts = conflictsOf(comparison)
  if (conflicts.length > 0) return { kind: 'conflict', place, conflicts }
  await write(comparison, { signal: manner.signal })
  const { notices } = guides
  return { kind: 'guides', place, files: comparison.files, notices, forAgent: configuration === undefined }
}

/** Overwrites the guides of a folder that has some of ours, which needs no questions; nothing if it has none. */
export async function refreshGuides(place: Place, manner: Manner): Promise<Outcome | undefined> {
  const configuration = await recall(place)
  if (configuration !== undefined) return makeGuides(place, configuration, manner)
  const guide = await readOwnFile(join(place.path, AGENTS_FILE))
  return readStamp(guide ?? '') === undefined ? undefined : makeGuides(place, undefined, manner)
}

/** The guide for a folder without a bot would be untrue beside one. */
async function expectNoBot({ path, shown }: Place): Promise<void> {
  const bot = await stat(join(path, BOT_FILE)).catch(() => undefined)
  if (bot === undefined) return
  throw new ScaffoldError(
    'target_unusable',
    `${shown} has a bot, but no ${ANSWERS_FILE} that tells what it was made from. Give the options of the project along with --overwrite-guide.`,
  )
}

/** What there is to say about the guides that are in a folder, if nothing is done about them. */
export async function guideNotices(
  place: Place,
  folder: ProjectFolder,
  files: readonly PlannedFile[],
): Promise<readonly string[]> {
  const facts = { version: botcliVersion(), command: refreshCommand(place) }
  const reviews = await reviewGuides(folder, files, facts, { overwrite: false, interactive: false })
  return noticesOf(reviews)
}

/** What was decided about guides. */
export interface GuideDecision {
  readonly replace: ReadonlySet<string>
  readonly notices: readonly string[]
}

/** What is done about the guides among some files, with the user where there is one to ask. */
export async function decideGuides(
  place: Place,
  folder: ProjectFolder,
  files: readonly PlannedFile[],
  { overwriteGuide, asker }: Manner,
): Promise<GuideDecision> {
  const facts = { version: botcliVersion(), command: refreshCommand(place) }
  const policy = { overwrite: overwriteGuide, interactive: asker !== undefined }
  const reviews = await reviewGuides(folder, files, facts, policy)
  const doubtful = reviews.filter(({ action }) => action === 'ask')
  const agreed = asker === undefined || doubtful.length === 0 ? [] : await asker.refresh(doubtful)
  const overwritten = reviews.filter(({ action }) => action === 'overwrite').map(({ path }) => path)
  return {
    replace: new Set([...overwritten, ...agreed]),
    notices: noticesOf(reviews),
  }
}

function noticesOf(reviews: readonly GuideReview[]): readonly string[] {
  return reviews.flatMap(({ notice }) => (notice === undefined ? [] : [notice]))
}
