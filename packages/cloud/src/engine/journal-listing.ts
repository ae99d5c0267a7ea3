import type { Dirent } from 'node:fs'
import { lstat, opendir } from 'node:fs/promises'
import type { Obstacle } from './obstacle.ts'
import { refusalOf } from './plain-file.ts'

const NAME = /^(\d{8})\.jsonl$/
/** A runner keeps nine files at most; whoever puts more names there than this is not waited for. */
const MAX_NAMES = 1000

/** The files of a journal, by their numbers in order, and what is in the way there. */
export interface JournalListing {
  readonly numbers: readonly number[]
  readonly obstacles: readonly Obstacle[]
}

/** Looks which files there are in the folder of a journal. */
export async function listJournal(folder: string): Promise<JournalListing> {
  try {
    if (!(await lstat(folder)).isDirectory()) return { numbers: [], obstacles: ['journal-closed'] }
    return await listed(folder)
  } catch (error) {
    return {
      numbers: [],
      obstacles: [refusalOf(error) === 'gone' ? 'journal-gone' : 'journal-closed'],
    }
  }
}

async function listed(folder: string): Promise<JournalListing> {
  const numbers: number[] = []
  const obstacles = new Set<Obstacle>()
  let names = 0
  for await (const entry of await opendir(folder)) {
    names += 1
    if (names > MAX_NAMES) {
      obstacles.add('journal-crowded')
      break
    }
    const number = NAME.exec(entry.name)?.[1]
    if (number === undefined) continue
    if (isStrange(entry)) obstacles.add('journal-strange')
    else numbers.push(Number(number))
  }
  return { numbers: numbers.sort((a, b) => a - b), obstacles: [...obstacles] }
}

/** Some file systems do not tell what an entry is; that is seen when it is opened. */
function isStrange(entry: Dirent): boolean {
  const kinds = [entry.isDirectory(), entry.isSymbolicLink(), entry.isFIFO(), entry.isSocket()]
  return kinds.includes(true) || entry.isBlockDevice() || entry.isCharacterDevice()
}
