import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { AgentLogRoute } from './agent-logs/agent-log-route.ts'
import { SqliteAgentLogStore } from './agent-logs/sqlite-agent-log-store.ts'
import { assembleAgents } from './agents/assemble-agents.ts'
import { AgentLogDoor } from './api/agent-log-door.ts'
import { allRoutes } from './api/all-routes.ts'
import { createApp, type Door } from './api/app.ts'
import { Dashboard } from './api/dashboard.ts'
import { Gate } from './api/gate.ts'
import { HttpServer, IDLE_LIMIT_MS } from './api/http-server.ts'
import { LogDoor } from './api/log-door.ts'
import { publicOrigin } from './api/public-url.ts'
import type { BuilderProbe } from './builders/builder.ts'
import { assembleBuilds } from './builds/assemble-builds.ts'
import type { PlatformPacker } from './builds/platform/platform-packer.ts'
import { Closers } from './closers.ts'
import { type CloudConfig, loadConfig } from './config.ts'
import { makeDataFolder } from './data-folder.ts'
import { diskFull, isDiskFull } from './disk-full.ts'
import type { Engine } from './engine/engine.ts'
import { HttpInstanceClient } from './engine/http-instance-client.ts'
import { noEngine } from './engine/no-engine.ts'
import { openProcessEngine } from './engine/open-process-engine.ts'
import { type FirstKeys, makeFirstKeys, makeNewKey, makeOrganization } from './first-start.ts'
import { Gateway } from './gateway/gateway.ts'
import { KeyService } from './keys/key-service.ts'
import type { Clock, CloudLog } from './log.ts'
import { LogRoute } from './logs/log-route.ts'
import { SegmentLogStore } from './logs/segment-log-store.ts'
import { openSecretBox } from './secrets/key-file.ts'
import { SecretService } from './secrets/secret-service.ts'
import { SettingsService } from './settings/settings-service.ts'
import { DataLock } from './store/data-lock.ts'
import { SqliteStore } from './store/sqlite-store.ts'
import { Sweep } from './sweep.ts'

const DAY_MS = 24 * 60 * 60_000
const FOLDERS = ['logs', 'uploads', 'work', 'bundles', 'instances']

/** How a cloud is started. */
export interface CloudOptions {
  /** Everything that it keeps. It is made if it is not there. */
  readonly dataFolder: string
  readonly host: string
  readonly port: number
  /** Ways to build, best first; those of this machine by default. */
  readonly builders?: readonly BuilderProbe[]
  /** Makes npm packages of this same botcli, for images that ask for `botcli*.tgz`. Without it they take it from npm. */
  readonly platform?: PlatformPacker | undefined
  /** The command that starts `botcli`, which agents are run with. Without it, or an engine, there are no agents. */
  readonly runner?: readonly string[] | undefined
  /** What runs agents; the one of this machine by default. */
  readonly engine?: Engine
  readonly log: CloudLog
  readonly version: string
  /** The built dashboard, if there is one. */
  readonly dashboardFolder?: string | undefined
  /** The built talk page, which is served beside it. */
  readonly talkFolder?: string | undefined
  /** Makes one more private key, for whoever has lost theirs. The first start makes keys anyway. */
  readonly newKey?: boolean
  /** Makes one more organization of this name, unless there is one. */
  readonly newOrganization?: string | undefined
  /** A builder that was told to stop gets this long before its build ends without it. */
  readonly builderStopMs?: number
  /** A client that neither sends nor takes anything for so long is let go. */
  readonly idleMs?: number | undefined
  /** How often it is looked for what is too old; every minute by default. */
  readonly sweepMs?: number | undefined
  readonly clock?: Clock
}

/** A cloud at work. */
export interface RunningCloud {
  readonly url: string
  readonly config: CloudConfig
  /** The keys, if this was the first start with this data folder. */
  readonly firstKeys: FirstKeys | undefined
  /** The private key that was asked for, if this was not the first start. It cannot be seen again. */
  readonly newKey: string | undefined
  /** The keys of the organization that was asked for, if it was made. They cannot be seen again. */
  readonly newOrganization: FirstKeys | undefined
  /** How many builds are being done. */
  readonly builds: number
  /** How many sessions are not over. */
  readonly sessions: number
  /** How many instances of agents there are. */
  readonly instances: number
  /**
   * Takes no more builds; those that are being done get until the deadline, and what waits goes on with the next start. Agents and their
   * sessions go on without the cloud, and the next start finds them again; unless they are to end with it.
   */
  close(options: { readonly deadlineMs: number; readonly endAgents?: boolean }): Promise<void>
}

/** Starts a control plane on one machine: one process, one folder, no other service. */
export async function startCloud(options: CloudOptions): Promise<RunningCloud> {
  const closers = new Closers()
  try {
    return await start(options, closers)
  } catch (error) {
    await closers.closeAll()
    throw isDiskFull(error) ? diskFull(error) : error
  }
}

async function start(options: CloudOptions, closers: Closers): Promise<RunningCloud> {
  const { log, clock = Date.now, idleMs = IDLE_LIMIT_MS } = options
  const dataFolder = resolve(options.dataFolder)
  await makeDataFolder(dataFolder, FOLDERS)
  const lock = DataLock.take(dataFolder)
  closers.add(() => lock.close())
  const config = loadConfig(dataFolder)
  const store = new SqliteStore(join(dataFolder, 'cloud.db'))
  closers.add(() => store.close())
  const settings = new SettingsService(store, config.regions)
  const keys = new KeyService(store, log, clock)
  const box = openSecretBox(join(dataFolder, 'secret.key'), (await store.organizations.first()) === undefined)
  const secrets = new SecretService({
    ...{ store, box, settings, clock },
    users: {
      changed: (organizationId, name) => agents.service.secretsChanged(organizationId, name),
    },
  })
  const logs = new SegmentLogStore(join(dataFolder, 'logs'), { maxBytes: config.builds.logBytes })
  closers.add(() => logs.close())
  const builds = await assembleBuilds({
    ...{ dataFolder, store, logs, secrets, settings, log, clock, config: config.builds },
    ...{ builders: options.builders, stopMs: options.builderStopMs, tokenKey: box.derive('uploads') },
    platform: options.platform,
    users: (organizationId, buildId) => agents.service.usersOfBuild(organizationId, buildId),
  })

  const agentLogs = new SqliteAgentLogStore(join(dataFolder, 'logs.db'), {
    maxBytes: config.agents.logBytes,
    maxAgeMs: config.agents.logDays * DAY_MS,
  })
  closers.add(() => agentLogs.close())
  const engine = await openEngine(options, dataFolder)
  closers.add(() => engine.close())
  const client = new HttpInstanceClient()
  const isKept = (agentId: string): boolean => agents.fleets.has(agentId)
  const agentLogRoute = new AgentLogRoute(agentLogs, {
    hasSession: (agentId, sessionId) => agents.sessions.has(agentId, sessionId),
    ended: (agentId, sessionId) => agents.sessions.ended(agentId, sessionId),
    isKept,
  })
  const agents = assembleAgents({
    ...{ store, engine, client, secrets, settings, dataFolder, log, clock, config: config.agents },
    ...{ buildLogs: logs, logs: agentLogs, tokenKey: box.derive('sessions'), idleMs },
    onSessionEnded: (agentId) => agentLogRoute.wake(agentId),
  })

  const gate = new Gate(keys)
  const logRoute = new LogRoute(logs)
  const logDoor = new LogDoor(gate, builds.directory, logRoute)
  const agentLogDoor = new AgentLogDoor({ gate, store, route: agentLogRoute, isKept })
  const originOf = (headers: NodeJS.Dict<string | string[]>): string =>
    publicOrigin(headers, server.address, config.publicUrl)
  const gateway = new Gateway({ gate, places: agents.live, log, publicOrigin: originOf })
  closers.add(() => gateway.close())
  const app = createApp({
    ...{ gate, log, version: options.version },
    routes: allRoutes({
      ...{ agents: agents.service, sessions: agents.sessions, starts: agents.starts },
      ...{ builds: builds.service, uploads: builds.uploads, secrets, keys, settings, originOf },
    }),
    doors: new Map<string, Door>([
      ['getBuildLogs', ({ buildId = '' }, incoming, outgoing) => logDoor.serve(buildId, incoming, outgoing)],
      [
        'getAgentLogs',
        ({ agentName = '' }, incoming, outgoing) => agentLogDoor.serve(agentName, incoming, outgoing),
      ],
    ]),
    dashboard: await loadDashboard(options),
    check: async () => void (await store.organizations.first()),
  })
  const { host, port } = options
  const server = new HttpServer({ host, port, app, log, idleMs, logDoor, gateway })
  closers.add(() => {
    logRoute.close()
    agentLogRoute.close()
    return server.close()
  })
  // What ran before is found first, so that nobody is told that it is not there.
  await agents.service.open()
  closers.add(() => agents.fleets.close())
  await server.listen()
  // Readers can come while what a crash has left is put in order; nothing is taken from the queue before that.
  await builds.start()
  const sweep = new Sweep({
    ...{
      uploads: builds.uploads,
      agentLogs,
      store,
      agents: agents.service,
      config: config.agents,
      log,
      clock,
    },
    everyMs: options.sweepMs,
  })
  closers.add(() => sweep.close())
  // Last of all, because a start that fails after this would have made keys that nobody has seen.
  const firstKeys = await makeFirstKeys(store, keys, settings, clock)
  const newKey = options.newKey && !firstKeys ? await makeNewKey(store, keys) : undefined
  const { newOrganization: name } = options
  // One of this name is there where somebody starts twice with the same options, such as a service.
  const isTaken = name !== undefined && (await store.organizations.named(name)) !== undefined
  if (isTaken) log.warn('there is an organization of this name already, so that none was made', { name })
  const newOrganization =
    name === undefined || isTaken ? undefined : await makeOrganization(store, keys, settings, clock, name)
  return {
    url: `http://${server.address}`,
    config,
    firstKeys,
    newKey,
    newOrganization,
    get builds() {
      return builds.queue.running
    },
    get sessions() {
      return agents.fleets.sessions
    },
    get instances() {
      return agents.fleets.instances
    },
    async close({ deadlineMs, endAgents = false }) {
      const ending = endAgents ? agents.fleets.end(config.agents.stopSeconds * 1000) : undefined
      await Promise.all([builds.queue.close({ deadlineMs }), ending])
      await closers.closeAll()
    },
  }
}

async function openEngine({ engine, runner, log, clock }: CloudOptions, dataFolder: string): Promise<Engine> {
  if (engine) return engine
  if (!runner) return noEngine
  return openProcessEngine({
    ...{ dataFolder, folder: join(dataFolder, 'instances'), runner, log },
    ...(clock && { clock }),
  })
}

async function loadDashboard({ dashboardFolder, talkFolder }: CloudOptions): Promise<Dashboard | undefined> {
  if (dashboardFolder === undefined || !existsSync(join(dashboardFolder, 'index.html'))) return undefined
  return Dashboard.load({ dashboard: dashboardFolder, talk: talkFolder })
}
