import type {
  AgentDetails,
  AgentListItem,
  AgentLogLevel,
  CloudEndCause,
  DeploymentPhase,
  DeploymentRecord,
  InstanceRecord,
  LogSource,
  SessionRecord,
} from '@botcli/protocol/cloud'
import type { Tone } from './words.ts'

/** Something in a word and a colour. */
export interface Shown {
  readonly words: string
  readonly tone: Tone
}

type Judged = Pick<
  AgentListItem | AgentDetails,
  'ready' | 'available' | 'desiredDeploymentId' | 'activeDeploymentId' | 'reconciledDeploymentId'
>

/** How an agent is. The newest deployment is decided upon once it is active or has failed. */
export function shownAgent(agent: Judged): Shown {
  const isDecided = agent.reconciledDeploymentId === agent.desiredDeploymentId
  if (agent.ready && agent.available) return { words: 'Ready', tone: 'good' }
  if (!isDecided) return { words: agent.available ? 'Rolling out' : 'Starting', tone: 'busy' }
  if (agent.available) return { words: 'Ready, last deployment failed', tone: 'warn' }
  return { words: agent.activeDeploymentId === null ? 'Failed' : 'Not available', tone: 'bad' }
}

/** Whether an agent is going through something, so that it is worth looking again soon. */
export function isChanging(agent: Judged): boolean {
  return shownAgent(agent).tone === 'busy'
}

/** Where a deployment stands. */
export const PHASES: Readonly<Record<DeploymentPhase, Shown>> = {
  Creating: { words: 'Starting', tone: 'busy' },
  Validating: { words: 'Checking', tone: 'busy' },
  Active: { words: 'Active', tone: 'good' },
  Draining: { words: 'Finishing its sessions', tone: 'busy' },
  Retired: { words: 'Retired', tone: 'quiet' },
  Failed: { words: 'Failed', tone: 'bad' },
}

/** Why a deployment was made. */
export function reasonWords({ reason }: DeploymentRecord, source: string | undefined): string {
  switch (reason) {
    case 'create':
      return 'First deployment'
    case 'update':
      return 'Update'
    case 'secrets':
      return 'Secrets changed'
    case 'promote':
      return 'Promoted from another agent'
    case 'rollback':
      return source === undefined ? 'Rollback' : `Rollback to ${source}`
  }
}

/** Whether a deployment can be gone back to: it was active once, and is not what the agent is to run already. */
export function canRollBackTo(
  { id, phase }: Pick<DeploymentRecord, 'id' | 'phase'>,
  { desiredDeploymentId }: Pick<AgentDetails, 'desiredDeploymentId'>,
): boolean {
  return id !== desiredDeploymentId && (phase === 'Retired' || phase === 'Draining' || phase === 'Active')
}

/** How an instance is. */
export const INSTANCE_STATES: Readonly<Record<InstanceRecord['state'], Shown>> = {
  starting: { words: 'Starting', tone: 'busy' },
  ready: { words: 'Ready', tone: 'good' },
  draining: { words: 'Finishing its sessions', tone: 'busy' },
  stopping: { words: 'Stopping', tone: 'quiet' },
}

const CAUSES: Readonly<Record<CloudEndCause, string>> = {
  bot_returned: 'Ended by the bot',
  client_left: 'Caller left',
  client_lost: 'Caller was lost',
  stopped: 'Stopped',
  shutdown: 'Ended with its instance',
  time_limit: 'Time limit reached',
  never_connected: 'Nobody connected',
  bot_failed: 'Bot failed',
  bot_exited: 'Bot exited',
  bot_unresponsive: 'Bot did not respond',
  bot_flooded: 'Bot sent too much',
  bot_out_of_memory: 'Bot ran out of memory',
  media_failed: 'Media failed',
  instance_lost: 'Instance was lost',
  not_started: 'Could not start',
}

/** How a session is, or how it ended. */
export function shownSession({ state, outcome }: Pick<SessionRecord, 'state' | 'outcome'>): Shown {
  if (outcome !== null) {
    return { words: CAUSES[outcome.cause], tone: outcome.result === 'ok' ? 'quiet' : 'bad' }
  }
  if (state === 'ended') return { words: 'Ended', tone: 'quiet' }
  return state === 'active' ? { words: 'Running', tone: 'good' } : { words: 'Starting', tone: 'busy' }
}

/** What a level lets through. */
export const LEVEL_WORDS: Readonly<Record<AgentLogLevel, string>> = {
  debug: 'All levels',
  info: 'Info and graver',
  warn: 'Warnings and errors',
  error: 'Errors',
}

/** Where entries come from. */
export const SOURCE_WORDS: Readonly<Record<LogSource, string>> = {
  build: 'Build',
  start: 'Start',
  run: 'Run',
}

/** An id as it is shown: enough of it to tell it from others. */
export function shortId(id: string): string {
  return id.slice(0, 8)
}

/** The time of day of an entry, and its day if that is another one. */
export function clockWords(iso: string, now: number): string {
  const date = new Date(iso)
  const two = (value: number): string => String(value).padStart(2, '0')
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
  if (date.toDateString() === new Date(now).toDateString()) return time
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`
}
