import { chmod, mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ScaffoldError } from '../errors.ts'
import { type ComparedFile, type Comparison, conflictsOf } from './compare.ts'
import { asScaffoldError, unless } from './failure.ts'
import { fileFingerprint, fingerprint } from './fingerprint.ts'
import { backUp, type Journal, type Move, makeMove, STAGE, undo } from './journal.ts'
import { makeStage, makeStageInside, removeStage } from './stage.ts'

/** How a project is written. */
export interface WriteOptions {
  /** Ends the writing; the folder is then as it was. */
  readonly signal?: AbortSignal
  /** Called before each change on the disk. */
  onStep?(): void | Promise<void>
}

/** Writes everything that a comparison says, or nothing. Fails with {@link ScaffoldError}; the folder is then as it was. */
export async function write(comparison: Comparison, options: WriteOptions = {}): Promise<void> {
  const { folder, files } = comparison
  const conflicts = conflictsOf(comparison)
  if (conflicts.length > 0) throw conflictError(conflicts)
  const changes = files.filter(({ status }) => ['create', 'merge', 'replace'].includes(status))
  if (changes.length === 0) return
  const step = async (): Promise<void> => {
    await options.onStep?.()
    if (options.signal?.aborted) throw new ScaffoldError('cancelled', 'Cancelled. Nothing was written.')
  }
  try {
    await step()
    const stage = await makeStage(folder)
    if (folder.missing.length > 0) return await writeFolder(comparison, stage, changes, step)
    const change = (place: string): Promise<void> => changeFolder(comparison, place, changes, step)
    // Two mounts of one disk look like one until something is to be moved between them.
    const isMovable = await unless(['EXDEV'], () => change(stage).then(() => true))
    if (isMovable === undefined) await change(await makeStageInside(folder))
  } catch (error) {
    throw asScaffoldError(error, folder.path)
  }
}

type Step = () => Promise<void>

/** A new folder appears by one rename, with everything in it. */
async function writeFolder(
  { folder }: Comparison,
  stage: string,
  changes: readonly ComparedFile[],
  step: Step,
): Promise<void> {
  const [first = '', ...inner] = folder.missing
  const fresh = join(stage, STAGE.fresh)
  try {
    await stageFiles(join(fresh, ...inner), changes, step)
    await step()
    await rename(fresh, join(folder.base, first))
  } finally {
    await discard(stage)
  }
}

/** A folder that exists is changed by a list of renames, which is written down before the first of them. */
async function changeFolder(
  { folder }: Comparison,
  stage: string,
  changes: readonly ComparedFile[],
  step: Step,
): Promise<void> {
  const journal: Journal = {
    root: folder.path,
    moves: await movesFor(folder.path, changes),
    files: Object.fromEntries(changes.map(({ path, bytes }) => [path, fileFingerprint(bytes)])),
  }
  try {
    await stageFiles(join(stage, STAGE.fresh), changes, step)
    await step()
    await writeFile(join(stage, STAGE.journal), JSON.stringify(journal))
    for (const move of journal.moves) {
      await step()
      await backUp(stage, journal, move)
      await step()
      await expectUnchanged(journal, move)
      await makeMove(stage, journal, move)
    }
  } catch (error) {
    await takeBack(stage, journal, error)
    throw error
  }
  await discard(stage)
}

async function takeBack(stage: string, journal: Journal, cause: unknown): Promise<void> {
  try {
    await undo(stage, journal)
  } catch (error) {
    const why = asScaffoldError(error, journal.root).message
    throw new ScaffoldError(
      'write_failed',
      `${asScaffoldError(cause, journal.root).message} What was written could not be taken back: ${why} What was there before is in ${stage}; the next run tries again.`,
      { cause },
    )
  }
  await discard(stage)
}

/** That a stage cannot be removed is no failure; the next run tries again. */
async function discard(stage: string): Promise<void> {
  await removeStage(stage).catch(() => {})
}

async function stageFiles(root: string, files: readonly ComparedFile[], step: Step): Promise<void> {
  const folders = new Set(files.map(({ path }) => dirname(join(root, path))))
  for (const folder of folders) {
    await step()
    await mkdir(folder, { recursive: true })
  }
  for (const { path, bytes, mode } of files) {
    await step()
    await writeFile(join(root, path), bytes)
    if (mode !== undefined) await chmod(join(root, path), mode)
  }
}

/** As few changes as possible: what is all new moves as one folder. */
async function movesFor(root: string, changes: readonly ComparedFile[]): Promise<readonly Move[]> {
  const moves = new Map<string, Move>()
  for (const { path, before } of changes) {
    const folder = await firstMissing(root, dirname(path))
    if (folder !== undefined) moves.set(folder, { kind: 'folder', path: folder })
    else moves.set(path, before === undefined ? { kind: 'file', path } : { kind: 'replace', path, before })
  }
  return [...moves.values()]
}

/** The first folder of a path that does not exist. */
async function firstMissing(root: string, path: string): Promise<string | undefined> {
  if (path === '.') return undefined
  const above = await firstMissing(root, dirname(path))
  if (above !== undefined) return above
  return (await fingerprint(join(root, path))) === undefined ? path : undefined
}

/** What was compared must still be there when it is replaced. */
async function expectUnchanged(journal: Journal, move: Move): Promise<void> {
  const now = await fingerprint(join(journal.root, move.path))
  if (now === (move.kind === 'replace' ? move.before : undefined)) return
  throw new ScaffoldError(
    'conflict',
    `${move.path} was changed by somebody else in the meantime. Nothing was written; try again.`,
  )
}

function conflictError(conflicts: readonly ComparedFile[]): ScaffoldError {
  const lines = conflicts.map(({ path, reason }) => `  ${path}: ${reason ?? ''}`)
  return new ScaffoldError('conflict', `These are in the way; nothing was written.\n${lines.join('\n')}`)
}
