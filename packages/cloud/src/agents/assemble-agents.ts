import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { AgentLogStore } from '../agent-logs/agent-log-store.ts'
import type { CloudConfig } from '../config.ts'
import type { Engine } from '../engine/engine.ts'
import type { InstanceClient } from '../engine/instance-client.ts'
import type { Clock, CloudLog } from '../log.ts'
import type { LogStore } from '../logs/log-store.ts'
import type { SecretService } from '../secrets/secret-service.ts'
import { LiveSessions } from '../sessions/live-sessions.ts'
import { SessionService } from '../sessions/session-service.ts'
import { SessionTokens } from '../sessions/session-tokens.ts'
import { StartService } from '../sessions/start-service.ts'
import type { SettingsService } from '../settings/settings-service.ts'
import type { Store } from '../store/store.ts'
import { AgentService } from './agent-service.ts'
import { BuildStory } from './build-story.ts'
import { ConfigCheck } from './deployment-config.ts'
import { Fleets } from './fleets.ts'
import { InstanceHost } from './instance-host.ts'
import { Launcher } from './launcher.ts'
import { MachineRoom } from './machine-room.ts'
import { StartTurns } from './start-turns.ts'

/** Instances that are started at the same time, on however small a machine. */
const FEWEST_STARTING = 2
/** What takes longer to start, because it hangs or has to be fetched, lets the next one begin. */
const LONGEST_TURN_MS = 5000

/** What agents are run with. */
export interface AgentsOptions {
  readonly store: Store
  readonly engine: Engine
  readonly client: InstanceClient
  readonly secrets: SecretService
  readonly settings: SettingsService
  readonly buildLogs: LogStore
  readonly logs: AgentLogStore
  readonly config: CloudConfig['agents']
  readonly dataFolder: string
  /** What tokens of sessions are made with. */
  readonly tokenKey: Uint8Array
  readonly log: CloudLog
  readonly clock: Clock
  /** A caller that hears nothing for so long is let go by the server. */
  readonly idleMs: number
  /** A session of an agent is over. */
  readonly onSessionEnded: (agentId: string) => void
}

/** Agents and their sessions, ready to be served. */
export interface Agents {
  readonly service: AgentService
  readonly sessions: SessionService
  readonly starts: StartService
  readonly live: LiveSessions
  readonly fleets: Fleets
}

/** Puts together what runs agents. Nothing runs before the fleets are opened. */
export function assembleAgents(options: AgentsOptions): Agents {
  const { store, engine, client, secrets, settings, buildLogs, logs, config, log, clock, idleMs } = options
  const tokens = new SessionTokens(options.tokenKey)
  const live = new LiveSessions({ store, tokens, log, clock, onEnded: options.onSessionEnded })
  const bundleFolder = join(options.dataFolder, 'bundles')
  const launcher = new Launcher({ engine, secrets, config, bundleFolder })
  const host = new InstanceHost({ store, launcher, client, live, logs, secrets, config, log, clock })
  const room = new MachineRoom(config.maxInstances)
  const most = Math.max(FEWEST_STARTING, availableParallelism())
  const turns = new StartTurns({ most, longestMs: LONGEST_TURN_MS })
  const fleets = new Fleets({ store, host, live, client, room, turns, logs, config, log, clock })
  const check = new ConfigCheck({ store, launcher, nodeType: process.arch.startsWith('arm') ? 'arm' : 'x86' })
  const story = new BuildStory({ store, buildLogs, logs, clock })
  return {
    service: new AgentService({ store, fleets, check, story, settings, log, clock }),
    sessions: new SessionService({ store, live, client, clock }),
    starts: new StartService({ store, fleets, live, tokens, client, log, clock, idleMs }),
    live,
    fleets,
  }
}
