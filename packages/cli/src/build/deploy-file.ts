import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { UsageError } from '../usage-error.ts'

/** How a deployment file is called. */
export const DEPLOY_FILE = 'deploy.toml'

/** Far more than anybody writes. */
const MAX_BYTES = 64 * 1024

/** What a deployment file says about builds. */
export interface DeployFile {
  readonly region: string | undefined
  /** Relative to the folder of the file. */
  readonly contextDir: string
  /** Relative to that context. */
  readonly dockerfile: string | undefined
  /** What else is left out of the context, beside what its ignore file names. */
  readonly exclude: readonly string[]
}

/** Reads the deployment file of a folder, or nothing if it has none. */
export async function readDeployFile(folder: string): Promise<DeployFile | undefined> {
  const file = join(folder, DEPLOY_FILE)
  const text = await readText(file)
  if (text === undefined) return undefined
  // Most commands never need it.
  const { parseDeployFile } = await import('./deploy-toml.ts')
  return parseDeployFile(text, file)
}

async function readText(file: string): Promise<string | undefined> {
  try {
    const handle = await open(file)
    try {
      const { size } = await handle.stat()
      if (size > MAX_BYTES) throw new UsageError([`${file} has more than ${MAX_BYTES / 1024} KB.`])
      return new TextDecoder('utf-8', { fatal: true }).decode(await handle.readFile())
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (error instanceof UsageError) throw error
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    const why = code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'it is not UTF-8' : String(code)
    throw new UsageError([`${file} cannot be read (${why}).`])
  }
}
