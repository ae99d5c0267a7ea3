import { compareVersions, readStamp, withoutCarriageReturns } from './stamp.ts'

/** The guide for coding agents. */
export const AGENTS_FILE = 'AGENTS.md'
/** What leads an assistant there. */
export const ASSISTANT_FILE = 'ASSISTANT.md'
/** What people read who build with a coding agent. */
export const GETTING_STARTED_FILE = 'GETTING_STARTED.md'

/** Files that are kept, unless the user says otherwise. */
export const GUIDE_FILES: readonly string[] = [AGENTS_FILE, ASSISTANT_FILE, GETTING_STARTED_FILE]

/** The line by which `ASSISTANT.md` imports the guide, and all that is in it. */
export const IMPORT_LINE = `@${AGENTS_FILE}`

/** What is there in place of a guide. */
export type GuideState =
  | 'absent'
  /** The guide itself, but for the ends of lines. */
  | 'same'
  /** Imports the guide, with lines of the user's beside that. */
  | 'extended'
  /** Of this version and untouched, but for another project. */
  | 'other'
  /** Of an older version, untouched or not. */
  | 'older'
  | 'newer'
  /** Of this version, with changes of the user's. */
  | 'edited'
  /** Not ours. */
  | 'foreign'

/** What is done about it. `ask` is to ask whether to overwrite. */
export type GuideAction = 'create' | 'overwrite' | 'keep' | 'ask'

/** How a run may treat guides. */
export interface GuidePolicy {
  /** `--overwrite-guide`. */
  readonly overwrite: boolean
  /** Whether there is somebody to ask. */
  readonly interactive: boolean
}

/** What was found in place of one guide, and what is done about it. */
export interface GuideReview {
  readonly path: string
  readonly state: GuideState
  readonly action: GuideAction
  /** Whether overwriting would lose changes of the user's. */
  readonly edited: boolean
  /** What the user is told, if it is worth a line. */
  readonly notice?: string
}

/** A guide as it would be written, and what is there now. */
export interface GuideCase {
  readonly path: string
  readonly planned: string
  readonly existing: string | undefined
  /** The version that would write it. */
  readonly version: string
  /** The command that would overwrite it. */
  readonly command: string
}

/** Decides about one guide. */
export function reviewGuide(guide: GuideCase, policy: GuidePolicy): GuideReview {
  const { path, existing, version } = guide
  const state = stateOf(guide)
  const stamp = existing === undefined ? undefined : readStamp(existing)
  const action = actionFor(state, policy)
  const edited =
    ['foreign', 'edited', 'extended'].includes(state) || (state === 'older' && stamp?.edited === true)
  const notice = action === 'keep' ? noticeFor(guide, state, stamp?.version ?? version) : undefined
  return { path, state, action, edited, ...(notice === undefined ? {} : { notice }) }
}

function stateOf({ path, planned, existing, version }: GuideCase): GuideState {
  if (existing === undefined) return 'absent'
  const text = withoutCarriageReturns(existing)
  if (text === planned) return 'same'
  if (path === ASSISTANT_FILE && text.split('\n').some((line) => line.trim() === IMPORT_LINE)) {
    return 'extended'
  }
  const stamp = readStamp(existing)
  if (stamp === undefined) return 'foreign'
  const age = compareVersions(stamp.version, version)
  if (age !== 0) return age < 0 ? 'older' : 'newer'
  return stamp.edited ? 'edited' : 'other'
}

function actionFor(state: GuideState, { overwrite, interactive }: GuidePolicy): GuideAction {
  if (state === 'absent') return 'create'
  if (state === 'same') return 'keep'
  if (overwrite) return 'overwrite'
  return interactive && (state === 'older' || state === 'other') ? 'ask' : 'keep'
}

function noticeFor(
  { path, version, command }: GuideCase,
  state: GuideState,
  found: string,
): string | undefined {
  switch (state) {
    case 'older':
      return `${path} was written by botcli ${found}, which is older than this one (${version}). To refresh it: ${command}`
    case 'other':
      return `${path} was written for another configuration and is kept. To refresh it: ${command}`
    case 'newer':
      return `${path} was written by botcli ${found}, which is newer than this one (${version}), and is kept.`
    case 'edited':
      return `${path} has changes of yours and is kept. To replace it: ${command}`
    case 'foreign':
      return path === ASSISTANT_FILE
        ? `${path} is kept. It does not import the guide: add the line ${IMPORT_LINE}, or replace it: ${command}`
        : `${path} was not written by botcli and is kept. To replace it: ${command}`
    default:
      return undefined
  }
}
