import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { CloudError, codeOf } from './errors.ts'

const MIB = 1024 * 1024
const name = z.string().regex(/^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/, {
  error: 'must be lower case letters, digits and hyphens',
})

const builds = z.strictObject({
  builders: z
    .array(z.enum(['docker', 'buildah', 'native']))
    .min(1)
    .default(['docker', 'buildah', 'native'])
    .describe('Ways to build, in the order in which they are tried; one that is not named is not used.'),
  concurrency: z.int().min(1).max(64).default(2).describe('Builds at the same time.'),
  perOrganization: z.int().min(1).max(64).default(2).describe('Builds of one organization at the same time.'),
  maxPending: z
    .int()
    .min(1)
    .max(100_000)
    .default(200)
    .describe('Builds of one organization that wait; more are refused.'),
  seconds: z.int().min(1).max(86_400).default(1800).describe('When a build is ended at the latest.'),
  memoryBytes: z
    .int()
    .min(64 * MIB)
    .default(4096 * MIB)
    .describe('Memory of one build.'),
  processes: z.int().min(16).default(2048).describe('Processes of one build.'),
  diskBytes: z
    .int()
    .min(64 * MIB)
    .default(20_480 * MIB)
    .describe('Disk space of one build, and the largest file that it writes.'),
  logBytes: z
    .int()
    .min(MIB)
    .default(100 * MIB)
    .describe('The largest log; the middle of a longer one is left out.'),
})

const agents = z.strictObject({
  maxInstances: z.int().min(1).max(10_000).default(50).describe('Instances of all agents together.'),
  startSeconds: z
    .int()
    .min(1)
    .max(3600)
    .default(60)
    .describe('How long an instance may take to become ready.'),
  idleSeconds: z
    .int()
    .min(0)
    .max(86_400)
    .default(300)
    .describe('How long an instance above the minimum waits for another session.'),
  stopSeconds: z
    .int()
    .min(0)
    .max(600)
    .default(10)
    .describe('How long an instance gets to end; its bots get 2 seconds less.'),
  orphanSeconds: z
    .int()
    .min(10)
    .max(86_400)
    .default(600)
    .describe('How long an instance without sessions waits for a cloud that was stopped to come back.'),
  icePorts: z
    .strictObject({
      first: z
        .int()
        .min(1)
        .max(65_535)
        .describe('The first UDP port for WebRTC; any port if there are none.'),
      last: z.int().min(1).max(65_535).describe('The last one. Each instance takes one, or some under load.'),
    })
    .refine(({ first, last }) => first <= last, { error: 'first must not be larger than last' })
    .optional(),
  announcedAddress: z
    .string()
    .min(1)
    .max(253)
    .optional()
    .describe('The address that WebRTC clients are told, for machines behind NAT.'),
  logBytes: z
    .int()
    .min(MIB)
    .default(100 * MIB)
    .describe('The largest log of an agent; the oldest entries of a longer one are removed.'),
  logDays: z.int().min(1).max(3650).default(30).describe('How long entries of the log of an agent are kept.'),
})

const region = z.strictObject({ code: name, display_name: z.string().min(1).max(100) })

/** What `cloud.json` can hold. */
export const configSchema = z.strictObject({
  regions: z
    .array(region)
    .min(1)
    .default([{ code: 'local', display_name: 'This machine' }])
    .refine((regions) => new Set(regions.map(({ code }) => code)).size === regions.length, {
      error: 'must not have a code twice',
    })
    .describe(
      'Each has a `code` of its own (up to 63 lower case letters, digits and hyphens) and a `display_name` (up to 100 characters). The first is the default one.',
    ),
  publicUrl: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('How clients reach this cloud, if not by the address that they ask.'),
  builds: builds.prefault({}),
  agents: agents.prefault({}),
})

const SECTIONS: Readonly<Record<string, z.ZodObject>> = { builds, agents, regions: region }

/** What an operator can set, in `cloud.json` of the data folder. */
export type CloudConfig = z.infer<typeof configSchema>

/** The configuration of a cloud that nobody has configured. */
export const DEFAULT_CONFIG: CloudConfig = configSchema.parse({})

/** Reads the configuration of a data folder; one with all defaults is written if there is none. */
export function loadConfig(folder: string): CloudConfig {
  const path = join(folder, 'cloud.json')
  const text = read(path)
  if (text === undefined) {
    write(path, `${JSON.stringify(DEFAULT_CONFIG, null, 2)}\n`)
    return DEFAULT_CONFIG
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new CloudError('INVALID_REQUEST', `${path} is not JSON: ${why}. Mend it, or remove it.`, { cause })
  }
  const parsed = configSchema.safeParse(value)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map(describe)
  throw new CloudError(
    'INVALID_REQUEST',
    `${path} is not valid: ${problems.join('; ')}. Mend it, or remove it.`,
  )
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return undefined
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new CloudError('UNAVAILABLE', `${path} cannot be read: ${why}.`, { cause })
  }
}

function write(path: string, text: string): void {
  const draft = `${path}.new`
  try {
    writeFileSync(draft, text, { mode: 0o600 })
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

function describe(issue: z.core.$ZodIssue): string {
  const at = issue.path.join('.')
  if (issue.code !== 'unrecognized_keys') return `${at || 'it'}: ${issue.message}`
  const [part] = issue.path
  const { shape } = part === undefined ? configSchema : (SECTIONS[String(part)] ?? configSchema)
  const unknown = issue.keys.map((key) => JSON.stringify(key)).join(', ')
  return `${at === '' ? '' : `${at}: `}unknown ${unknown} (known: ${Object.keys(shape).join(', ')})`
}
