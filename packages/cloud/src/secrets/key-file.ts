import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { CloudError } from '../errors.ts'
import { type BoxKey, SecretBox } from './secret-box.ts'

const LINE = /^([0-9a-f]{8}) ([A-Za-z0-9+/]{43}=)$/
/** Bits that would let others than the owner in. */
const OTHERS = 0o077

/**
 * Opens the box whose keys are in a file: one key a line, the newest first, as an id and base64. The file is made when `mayCreate`; without
 * it, everything that was sealed is lost, so a file that should be there is not replaced.
 */
export function openSecretBox(path: string, mayCreate: boolean): SecretBox {
  const text = read(path) ?? create(path, mayCreate)
  const keys = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line): BoxKey => {
      const [, id, bytes] = LINE.exec(line.trim()) ?? []
      if (id === undefined || bytes === undefined) {
        throw new CloudError('UNAVAILABLE', `${path} is not a key file. Put back the one that was there.`)
      }
      return { id, bytes: Buffer.from(bytes, 'base64') }
    })
  const [newest, ...older] = keys
  if (!newest) throw new CloudError('UNAVAILABLE', `${path} is empty. Put back the one that was there.`)
  return new SecretBox(newest, ...older)
}

function read(path: string): string | undefined {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw new CloudError('UNAVAILABLE', `The key file cannot be read: ${String(error)}`, { cause: error })
  }
  try {
    const mode = fstatSync(file).mode & 0o777
    if ((mode & OTHERS) !== 0 && process.platform !== 'win32') {
      const shown = mode.toString(8)
      const message = `Others than you can read or change ${path} (its mode is ${shown}). Run: chmod 600 '${path}'`
      throw new CloudError('FORBIDDEN', message)
    }
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

function create(path: string, mayCreate: boolean): string {
  if (!mayCreate) {
    const message = `The key file ${path} is gone, and the secrets cannot be read without it. Put it back.`
    throw new CloudError('UNAVAILABLE', message)
  }
  const line = `${randomBytes(4).toString('hex')} ${randomBytes(32).toString('base64')}\n`
  const draft = `${path}.new-${process.pid}`
  const file = openSync(draft, 'wx', 0o600)
  try {
    try {
      writeSync(file, line)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    linkSync(draft, path)
  } finally {
    unlinkSync(draft)
  }
  return line
}
