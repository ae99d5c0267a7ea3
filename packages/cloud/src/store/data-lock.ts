import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Libsql from 'libsql'
import { CloudError, codeOf } from '../errors.ts'

/**
 * Keeps a second process out of a data folder. It is a lock of the system on an empty database, so that it is gone when its process is,
 * whatever ended it.
 */
export class DataLock {
  readonly #database: Libsql.Database

  private constructor(database: Libsql.Database) {
    this.#database = database
  }

  /** Takes the folder, or says who has it. */
  static take(folder: string): DataLock {
    const lockFile = join(folder, 'lock')
    // Whoever can read it could hold it.
    writeFileSync(lockFile, '', { flag: 'a', mode: 0o600 })
    const database = new Libsql(lockFile)
    const ownerFile = join(folder, 'lock.owner')
    try {
      database.exec('BEGIN EXCLUSIVE')
    } catch (error) {
      database.close()
      if (!codeOf(error).startsWith('SQLITE_BUSY')) throw error
      throw new CloudError(
        'CONFLICT',
        `The data folder ${folder} is in use by another cloud${owner(ownerFile)}. Stop that one, or choose another folder with --data.`,
      )
    }
    writeFileSync(ownerFile, `${process.pid}\n`, { mode: 0o600 })
    return new DataLock(database)
  }

  close(): void {
    this.#database.close()
  }
}

function owner(path: string): string {
  try {
    return ` (process ${readFileSync(path, 'utf8').trim()})`
  } catch {
    return ''
  }
}
