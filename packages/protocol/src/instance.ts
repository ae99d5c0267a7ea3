import { z } from 'zod'
import type { SessionView } from './sessions.ts'

/**
 * A runner inside of a cloud agent is called an instance. It is the same program as on the developer's machine; this variable, with the
 * path of its settings, is what tells it apart.
 */
export const INSTANCE_VARIABLE = 'BOTCLI_INSTANCE'

/** With this header of `POST /start` the cloud gives a session its id. Instances take it; other runners do not look at it. */
export const SESSION_ID_HEADER = 'x-botcli-session-id'
/** What that header holds. */
export const sessionIdSchema = z.uuid()

/**
 * The settings of an instance, in a JSON file. What it serves and how is decided by the cloud, not by the command line. An image may hold an
 * older or a newer runner than its cloud, so what is not known is not looked at, and what was added later has a default.
 */
export const instanceSettings = z.object({
  version: z.literal(1),
  instanceId: z.uuid(),
  agentName: z.string(),
  deploymentId: z.uuid(),
  region: z.string(),
  /** The Unix socket that it listens on, and nothing else. It appears when the bot is loaded and sessions can start. */
  socket: z.string(),
  /** The folder of its journal. */
  journal: z.string(),
  maxSessions: z.int().min(1),
  maxSessionSeconds: z.int().min(1),
  /** A bot that grows beyond this is ended. */
  maxMemoryBytes: z.int().min(1),
  /** Bots that wait with their code loaded. */
  warm: z.int().min(0),
  /** UDP ports for WebRTC, both ends included; any if it is missing. */
  icePorts: z.strictObject({ first: z.int(), last: z.int() }).optional(),
  /** The address that WebRTC clients are told. */
  announcedAddress: z.string().optional(),
  /** It ends itself when nobody has watched it for so long and it has no session. */
  orphanSeconds: z.int().min(1),
  /** So long after it was told to end, it is killed. */
  stopSeconds: z.int().min(0).default(10),
})
export type InstanceSettings = z.infer<typeof instanceSettings>

/** `GET /instance`: what an instance says of itself. */
export interface InstanceInfo {
  readonly instanceId: string
  readonly pid: number
  /** Those that are not over. */
  readonly sessions: readonly SessionView[]
}

/**
 * `GET /instance/events` is how the cloud watches an instance: a stream of lines, each of which says that the journal has grown. A line comes
 * at once when the stream begins, and at least every 5 seconds. The stream ends with the instance.
 */
export const INSTANCE_BEAT_MS = 5000

/**
 * The journal of an instance is a folder with files `00000001.jsonl`, `00000002.jsonl` and so on, a record a line. Only the last of them is
 * written to. Whoever reads it removes those that were read; an instance that nobody reads removes its oldest ones, and says so in a record.
 */
export type JournalRecord =
  /** A line of the log, as the runner's logger spells it: `time`, `level`, `msg`, `sessionId` and other fields. */
  | { readonly type: 'log'; readonly line: JournalLine }
  /** A session as it is now: when it begins, connects, and is over. */
  | { readonly type: 'session'; readonly session: SessionView }
  /** So many records were removed before they were read. */
  | { readonly type: 'lost'; readonly records: number }

/** A line of the runner's log. */
export interface JournalLine {
  readonly time: string
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly msg: string
  readonly sessionId?: string
  /** Set when these are the words of the bot itself. */
  readonly from?: string
  readonly [field: string]: unknown
}

/** The name of a file of a journal, by its number from 1 on. */
export function journalFile(number: number): string {
  return `${String(number).padStart(8, '0')}.jsonl`
}
