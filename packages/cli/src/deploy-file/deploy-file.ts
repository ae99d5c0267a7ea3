import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentProfile } from '@botcli/protocol/cloud'
import { UsageError } from '../usage-error.ts'

/** How a deployment file is called. */
export const DEPLOY_FILE = 'deploy.toml'

/** Far more than anybody writes. */
const MAX_BYTES = 64 * 1024

/** What a deployment file says about the agent. What is not there is left to the command line and to the cloud. */
export interface AgentSettings {
  readonly agentName?: string | undefined
  /** An image that is there already; either this or `buildId`, or the folder is built. */
  readonly image?: string | undefined
  readonly buildId?: string | undefined
  /** The secret set that opens the registry of the image. */
  readonly imageCredentials?: string | undefined
  readonly secretSet?: string | undefined
  readonly agentProfile?: AgentProfile | undefined
  /** In seconds. */
  readonly maxSessionDuration?: number | undefined
  readonly sessionsPerInstance?: number | undefined
  readonly minAgents?: number | undefined
  readonly maxAgents?: number | undefined
  /** `null` turns it off. */
  readonly audioFilter?: 'tel' | 'pro' | null | undefined
}

/** What a deployment file says. */
export interface DeployFile {
  readonly agent: AgentSettings
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
