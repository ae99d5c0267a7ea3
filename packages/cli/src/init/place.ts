import { basename, join, relative, resolve } from 'node:path'
import {
  ANSWERS_FILE,
  type Configuration,
  isAnswers,
  quoteForShell,
  readAnswers,
  readOwnFile,
  ScaffoldError,
  targetArgument,
} from '@botcli/scaffold'

/** Where a project goes. */
export interface Place {
  /** Absolute. */
  readonly path: string
  /** From where the user is, to be shown and pasted. */
  readonly shown: string
  /** The last part of the path; it is empty for the root of a disk. */
  readonly name: string
}

/** Finds a place from what was typed. */
export function placeAt(cwd: string, typed: string): Place {
  const path = resolve(cwd, typed)
  const inside = relative(cwd, path)
  const shown = inside === '' ? '.' : inside.startsWith('..') ? path : inside
  return { path, shown, name: basename(path) }
}

/** The command that refreshes the guides of a folder. */
export function refreshCommand({ shown }: Place): string {
  return `botcli init ${quoteForShell(targetArgument(shown))} --overwrite-guide`
}

/** The configuration of the project that is in a folder, if botcli has made one there. */
export async function recall({ path, shown }: Place): Promise<Configuration | undefined> {
  const text = await readOwnFile(join(path, ANSWERS_FILE))
  if (text === undefined) return undefined
  const answers = readAnswers(text)
  if (answers !== undefined) return answers.configuration
  const why = isAnswers(text) ? 'of another version of botcli, and this one cannot read it' : 'damaged'
  throw new ScaffoldError(
    'target_unusable',
    `${join(shown, ANSWERS_FILE)}, which tells what the project was made from, is ${why}. Restore it, or give the options of the project.`,
  )
}
