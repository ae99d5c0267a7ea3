import {
  copyFile,
  link,
  lstat,
  mkdir,
  readFile,
  readlink,
  rename,
  rmdir,
  symlink,
  unlink,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { codeOf, NOTHING_THERE, unless } from './failure.ts'
import { fingerprint } from './fingerprint.ts'

/** One change of a folder: a whole new folder, a new file, or a new file in place of an old one. */
export type Move =
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'replace'; readonly path: string; readonly before: string }

/** What is to be changed in a folder; written down before the first change, and removed after the last. */
export interface Journal {
  /** The folder, absolute. */
  readonly root: string
  readonly moves: readonly Move[]
  /** What each file that we write is by its bytes, so that others are never taken for ours. */
  readonly files: Readonly<Record<string, string>>
}

/** The parts of a stage. */
export const STAGE = { fresh: 'new', backup: 'old', journal: 'journal.json' } as const

/** Reads the journal of a stage. One that is not whole was never acted on. */
export async function readJournal(stage: string): Promise<Journal | undefined> {
  const text = await unless(NOTHING_THERE, () => readFile(join(stage, STAGE.journal), 'utf8'))
  if (text === undefined) return undefined
  try {
    const journal = JSON.parse(text) as Journal
    const paths = [...journal.moves.map(({ path }) => path), ...Object.keys(journal.files)]
    const isSafe = paths.every(
      (path) => path !== '' && path.split('/').every((part) => part !== '..' && part !== ''),
    )
    return typeof journal.root === 'string' && isSafe ? journal : undefined
  } catch {
    return undefined
  }
}

/** Makes one change. Nothing that is in the way is overwritten, unless it is to be replaced. */
export async function makeMove(stage: string, journal: Journal, move: Move): Promise<void> {
  const from = join(stage, STAGE.fresh, move.path)
  const to = join(journal.root, move.path)
  if (move.kind !== 'file') return rename(from, to)
  try {
    // Unlike a rename, a link never takes the place of a file that has just come.
    await link(from, to)
  } catch (error) {
    if (codeOf(error) === 'EEXIST' || (await fingerprint(to)) !== undefined) throw error
    // Not every disk has links.
    return rename(from, to)
  }
  await unlink(from)
}

/** Keeps what is about to be replaced, without taking it away. */
export async function backUp(stage: string, journal: Journal, move: Move): Promise<void> {
  if (move.kind !== 'replace') return
  const from = join(journal.root, move.path)
  const to = join(stage, STAGE.backup, move.path)
  await mkdir(dirname(to), { recursive: true })
  if ((await lstat(from)).isSymbolicLink()) return symlink(await readlink(from), to)
  try {
    await link(from, to)
  } catch {
    await copyFile(from, to)
  }
}

/** Whether every change was made. */
export async function isComplete(stage: string, journal: Journal): Promise<boolean> {
  for (const move of journal.moves) if (!(await wasMade(stage, journal, move))) return false
  return true
}

/** Takes back every change that was made. Files that somebody has changed since are left alone. */
export async function undo(stage: string, journal: Journal): Promise<void> {
  for (const move of journal.moves.toReversed()) {
    if (!(await wasMade(stage, journal, move))) continue
    const place = join(journal.root, move.path)
    const ours = journal.files[move.path]
    if (move.kind === 'folder') await removeFolder(journal, move.path)
    else if (move.kind === 'file') await removeOurs(place, ours)
    else if ((await fingerprint(place)) === ours) await rename(join(stage, STAGE.backup, move.path), place)
  }
}

/** What was moved is not in the stage any more. Only for a moment it is in both places, as one file with two names. */
async function wasMade(stage: string, journal: Journal, { path }: Move): Promise<boolean> {
  const staged = await unless(NOTHING_THERE, () => lstat(join(stage, STAGE.fresh, path)))
  if (staged === undefined) return true
  const placed = await unless(NOTHING_THERE, () => lstat(join(journal.root, path)))
  return placed?.ino === staged.ino && placed.dev === staged.dev
}

async function removeOurs(place: string, ours: string | undefined): Promise<void> {
  if (ours !== undefined && (await fingerprint(place)) === ours) await unlink(place)
}

async function removeFolder({ root, files }: Journal, path: string): Promise<void> {
  const inside = Object.keys(files).filter((file) => file.startsWith(`${path}/`))
  for (const file of inside) await removeOurs(join(root, file), files[file])
  const folders = new Set([path, ...inside.flatMap((file) => foldersBetween(path, file))])
  // The deepest have the longest paths. What has something of the user's in it stays.
  for (const folder of [...folders].toSorted((a, b) => b.length - a.length)) {
    await unless([...NOTHING_THERE, 'ENOTEMPTY', 'EEXIST'], () => rmdir(join(root, folder)))
  }
}

function foldersBetween(top: string, file: string): readonly string[] {
  const above = dirname(file)
  return above === top ? [] : [above, ...foldersBetween(top, above)]
}
