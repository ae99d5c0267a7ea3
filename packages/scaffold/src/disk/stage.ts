import { lstat, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { ScaffoldError } from '../errors.ts'
import { sha256 } from '../sha256.ts'
import { codeOf, FORBIDDEN, unless } from './failure.ts'
import type { ProjectFolder } from './folder.ts'
import { isComplete, readJournal, STAGE, undo } from './journal.ts'

const PREFIX = '.botcli-stage-'
const NAME = /^\.botcli-stage-([0-9a-f]{8})-(\d+)-\w+$/

/** Writing takes a second at most; a process that is still there much later is another one with the same number. */
const LONGEST_WRITE_MS = 10 * 60 * 1000

/** How to tell whether the process that made a stage still runs. */
export interface Owners {
  isAlive(pid: number): boolean
  now(): number
}

/** The processes of this machine. */
export const MACHINE: Owners = {
  isAlive: (pid) => {
    try {
      process.kill(pid, 0)
      return true
    } catch (error) {
      return codeOf(error) === 'EPERM'
    }
  },
  now: Date.now,
}

/** Makes a place on the same disk for what is about to be written: beside the folder, or in it where that is not possible. */
export async function makeStage(folder: ProjectFolder): Promise<string> {
  if (folder.missing.length > 0) return mkdtemp(join(folder.base, stagePrefix()))
  const parent = dirname(folder.path)
  const [inner, outer] = await Promise.all([stat(folder.path), stat(parent)])
  const beside =
    inner.dev === outer.dev && parent !== folder.path
      ? await unless(FORBIDDEN, () => mkdtemp(join(parent, stagePrefix())))
      : undefined
  return beside ?? makeStageInside(folder)
}

/** Makes such a place in the folder itself, from where everything can be moved. */
export async function makeStageInside(folder: ProjectFolder): Promise<string> {
  return mkdtemp(join(folder.path, stagePrefix()))
}

/** Removes a stage. Without its journal, which goes first, nothing will ever be taken back. */
export async function removeStage(stage: string): Promise<void> {
  await rm(join(stage, STAGE.journal), { force: true })
  await rm(stage, { recursive: true, force: true })
}

/** Cleans up after writers that were killed: what they had not finished in this folder is taken back. */
export async function repair(folder: ProjectFolder, owners: Owners = MACHINE): Promise<void> {
  const places = folder.missing.length > 0 ? [folder.base] : [dirname(folder.path), folder.path]
  for (const place of new Set(places)) {
    const names = (await unless(FORBIDDEN, () => readdir(place))) ?? []
    for (const name of names) {
      const [, host, pid] = NAME.exec(name) ?? []
      if (host === machine()) await repairStage(join(place, name), Number(pid), folder, owners)
    }
  }
}

async function repairStage(stage: string, pid: number, folder: ProjectFolder, owners: Owners): Promise<void> {
  const entry = await unless(['ENOENT'], () => lstat(stage))
  // What other users put here is not to be trusted.
  if (entry === undefined || !entry.isDirectory() || entry.uid !== (process.getuid?.() ?? entry.uid)) return
  const isRunning = owners.isAlive(pid) && owners.now() - entry.mtimeMs < LONGEST_WRITE_MS
  const journal = await readJournal(stage)
  const isHere = journal?.root === folder.path
  if (isRunning && isHere) {
    throw new ScaffoldError('busy', `Another botcli is writing to ${folder.path}. Try again when it is done.`)
  }
  // A journal of another folder is for whoever comes to that folder.
  if (isRunning || (journal !== undefined && !isHere)) return
  if (journal !== undefined && !(await isComplete(stage, journal))) await undo(stage, journal)
  await removeStage(stage)
}

function stagePrefix(): string {
  return `${PREFIX}${machine()}-${process.pid}-`
}

function machine(): string {
  return sha256(hostname()).slice(0, 8)
}
