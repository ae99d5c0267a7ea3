import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createApp } from './api/app.ts'
import { Dashboard } from './api/dashboard.ts'
import { Gate } from './api/gate.ts'
import { HttpServer } from './api/http-server.ts'
import { LogDoor } from './api/log-door.ts'
import { publicOrigin } from './api/public-url.ts'
import { buildRoutes } from './api/routes/build-routes.ts'
import { keyRoutes } from './api/routes/key-routes.ts'
import { secretRoutes } from './api/routes/secret-routes.ts'
import { settingsRoutes } from './api/routes/settings-routes.ts'
import { FileBlobStore } from './blobs/file-blob-store.ts'
import type { BuilderProbe } from './builders/builder.ts'
import { BuildDirectory } from './builds/build-directory.ts'
import { BuildQueue } from './builds/build-queue.ts'
import { BuildRuns } from './builds/build-runs.ts'
import { BuildService } from './builds/build-service.ts'
import { BuilderShelf } from './builds/builder-shelf.ts'
import { UploadService } from './builds/uploads/upload-service.ts'
import { type CloudConfig, loadConfig } from './config.ts'
import { makeDataFolder } from './data-folder.ts'
import { diskFull, isDiskFull } from './disk-full.ts'
import { type FirstKeys, makeFirstKeys, makeNewKey } from './first-start.ts'
import { KeyService } from './keys/key-service.ts'
import type { Clock, CloudLog } from './log.ts'
import { LogRoute } from './logs/log-route.ts'
import { SegmentLogStore } from './logs/segment-log-store.ts'
import { machineBuilders } from './machine-builders.ts'
import { openSecretBox } from './secrets/key-file.ts'
import { SecretService } from './secrets/secret-service.ts'
import { SettingsService } from './settings/settings-service.ts'
import { DataLock } from './store/data-lock.ts'
import { SqliteStore } from './store/sqlite-store.ts'
import type { Store } from './store/store.ts'

const SWEEP_MS = 60_000
const STOP_MS = 30_000

/** How a cloud is started. */
export interface CloudOptions {
  /** Everything that it keeps. It is made if it is not there. */
  readonly dataFolder: string
  readonly host: string
  readonly port: number
  /** Ways to build, best first; those of this machine by default. */
  readonly builders?: readonly BuilderProbe[]
  readonly log: CloudLog
  readonly version: string
  /** The built dashboard, if there is one. */
  readonly dashboardFolder?: string | undefined
  /** Makes one more private key, for whoever has lost theirs. The first start makes keys anyway. */
  readonly newKey?: boolean
  /** A builder that was told to stop gets this long before its build ends without it. */
  readonly builderStopMs?: number
  /** A client that neither sends nor takes anything for so long is let go. */
  readonly idleMs?: number | undefined
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
  /** How many builds are being done. */
  readonly builds: number
  /** Takes no more builds; those that are being done get until the deadline. What waits goes on with the next start. */
  close(options: { readonly deadlineMs: number }): Promise<void>
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
  const { log, clock = Date.now, host, port, idleMs } = options
  const folder = resolve(options.dataFolder)
  await makeDataFolder(folder, ['logs', 'uploads', 'work', 'bundles'])
  const lock = DataLock.take(folder)
  closers.add(() => lock.close())
  const config = loadConfig(folder)
  const store = new SqliteStore(join(folder, 'cloud.db'))
  closers.add(() => store.close())
  const settings = new SettingsService(store, config.regions)
  const keys = new KeyService(store, log, clock)
  const box = openSecretBox(join(folder, 'secret.key'), (await store.organizations.first()) === undefined)
  const secrets = new SecretService({ store, box, settings, clock })
  const logs = new SegmentLogStore(join(folder, 'logs'), { maxBytes: config.builds.logBytes })
  closers.add(() => logs.close())

  const blobs = await FileBlobStore.open(join(folder, 'uploads'))
  const uploads = new UploadService({ store, blobs, settings, log, clock, tokenKey: box.derive('uploads') })
  const bundleFolder = join(folder, 'bundles')
  const probes = options.builders ?? machineBuilders(folder, bundleFolder)
  const wanted = config.builds.builders.flatMap((kind) => probes.filter((probe) => probe.kind === kind))
  const shelf = new BuilderShelf(wanted, log, clock)
  const directory = new BuildDirectory(store)
  const { seconds, memoryBytes, processes, diskBytes, concurrency, perOrganization, maxPending } =
    config.builds
  const workFolder = join(folder, 'work')
  const owner = randomUUID()
  const stopMs = options.builderStopMs ?? STOP_MS
  const runs = new BuildRuns({
    ...{
      store,
      logs,
      uploads,
      secrets,
      shelf,
      directory,
      log,
      clock,
      workFolder,
      bundleFolder,
      owner,
      stopMs,
    },
    limits: { seconds, memoryBytes, processes, diskBytes },
  })
  const queue = new BuildQueue({
    store,
    work: runs,
    owner,
    concurrency,
    perOrganization,
    log,
    clock,
  })
  const builds = new BuildService({
    ...{ store, logs, settings, uploads, shelf, runs, queue, directory, maxPending, log, clock },
  })

  const gate = new Gate(keys)
  const logRoute = new LogRoute(logs)
  const logDoor = new LogDoor(gate, directory, logRoute)
  const uploadUrl = (id: string, headers: NodeJS.Dict<string | string[]>): string =>
    `${publicOrigin(headers, server.address, config.publicUrl)}/v1/uploads/${id}`
  const app = createApp({
    routes: [
      ...buildRoutes({ builds, uploads, uploadUrl }),
      ...secretRoutes(secrets),
      ...keyRoutes(keys),
      ...settingsRoutes(settings),
    ],
    ...{ gate, logDoor, log },
    dashboard: await loadDashboard(options.dashboardFolder),
    version: options.version,
    check: () => checkStore(store),
  })
  const server = new HttpServer({ host, port, app, logDoor, log, idleMs })
  closers.add(() => {
    logRoute.close()
    return server.close()
  })
  await server.listen()
  // Readers can come while what a crash has left is put in order; nothing is taken from the queue before that.
  await queue.start({ isAlone: true })
  await removeLeftovers(workFolder, queue)
  const sweep = setInterval(() => {
    uploads.sweep().catch((error: unknown) => log.warn('old uploads were not removed', { error }))
  }, SWEEP_MS)
  closers.add(() => clearInterval(sweep))
  // Last of all, because a start that fails after this would have made keys that nobody has seen.
  const firstKeys = await makeFirstKeys(store, keys, settings, clock)
  const newKey = options.newKey && !firstKeys ? await makeNewKey(store, keys) : undefined
  return {
    url: `http://${server.address}`,
    config,
    firstKeys,
    newKey,
    get builds() {
      return queue.running
    },
    async close({ deadlineMs }) {
      await queue.close({ deadlineMs })
      await closers.closeAll()
    },
  }
}

/** What has to be closed, in the order in which it was opened. */
class Closers {
  readonly #all: (() => void | Promise<void>)[] = []

  add(close: () => void | Promise<void>): void {
    this.#all.push(close)
  }

  /** Closes the last one first. */
  async closeAll(): Promise<void> {
    for (const close of this.#all.splice(0).reverse()) await close()
  }
}

async function loadDashboard(folder: string | undefined): Promise<Dashboard | undefined> {
  return folder !== undefined && existsSync(join(folder, 'index.html')) ? Dashboard.load(folder) : undefined
}

async function checkStore(store: Store): Promise<void> {
  await store.organizations.first()
}

/** Folders of builds that a killed process has left. */
async function removeLeftovers(folder: string, queue: BuildQueue): Promise<void> {
  const names = await readdir(folder).catch(() => [])
  const left = names.filter((name) => !queue.isRunning(name))
  await Promise.all(left.map((name) => rm(join(folder, name), { recursive: true, force: true })))
}
