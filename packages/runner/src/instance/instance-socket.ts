import { once } from 'node:events'
import { lstatSync, rmSync } from 'node:fs'
import { connect, type Server } from 'node:net'
import { dirname } from 'node:path'
import { RunnerError } from '../errors.ts'
import { isOwnFolder } from './own-folder.ts'

/** What fits into the system's structure for an address. */
const MAX_PATH_BYTES = 107
/** Bits that are taken from the socket's file; who may write to it may connect. */
const OWNER_ONLY = 0o177
const EVERYBODY = 0o111

/** Listens on a Unix socket, in the place of one that a dead process has left. Rejects with a {@link RunnerError}. */
export async function listenOnSocket(server: Server, path: string): Promise<void> {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    throw unavailable(path, `the path is longer than ${MAX_PATH_BYTES} bytes`)
  }
  try {
    if (await isTaken(path)) throw unavailable(path, 'another process listens there')
    rmSync(path, { force: true })
    const before = process.umask(isOwnFolder(dirname(path)) ? OWNER_ONLY : EVERYBODY)
    try {
      // The file is made before this returns.
      server.listen(path)
    } finally {
      process.umask(before)
    }
    await once(server, 'listening')
  } catch (cause) {
    if (cause instanceof RunnerError) throw cause
    throw unavailable(path, cause instanceof Error ? cause.message : String(cause), { cause })
  }
}

/** Whether somebody is there. What is no socket is somebody's, too. */
async function isTaken(path: string): Promise<boolean> {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return false
  if (!found.isSocket()) throw unavailable(path, 'there is a file that is no socket')
  const socket = connect(path)
  try {
    await once(socket, 'connect')
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED') return false
    throw error
  } finally {
    socket.destroy()
  }
}

function unavailable(path: string, why: string, options?: ErrorOptions): RunnerError {
  return new RunnerError('address_unavailable', `Cannot listen on ${path}: ${why}.`, undefined, options)
}
