import { randomUUID } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { FileBlobStore } from '../blobs/file-blob-store.ts'
import type { BuilderProbe } from '../builders/builder.ts'
import type { CloudConfig } from '../config.ts'
import type { Clock, CloudLog } from '../log.ts'
import type { LogStore } from '../logs/log-store.ts'
import { machineBuilders } from '../machine-builders.ts'
import type { SecretService } from '../secrets/secret-service.ts'
import type { SettingsService } from '../settings/settings-service.ts'
import type { Store } from '../store/store.ts'
import { BuildDirectory } from './build-directory.ts'
import { BuildQueue } from './build-queue.ts'
import { BuildRuns } from './build-runs.ts'
import { BuildService } from './build-service.ts'
import { BuilderShelf } from './builder-shelf.ts'
import { PackedPlatform } from './platform/packed-platform.ts'
import type { PlatformPacker } from './platform/platform-packer.ts'
import { PlatformSupply } from './platform/platform-supply.ts'
import { UploadService } from './uploads/upload-service.ts'

const STOP_MS = 30_000

/** What builds are done with. */
export interface BuildsOptions {
  readonly dataFolder: string
  readonly store: Store
  readonly logs: LogStore
  readonly secrets: SecretService
  readonly settings: SettingsService
  readonly config: CloudConfig['builds']
  /** Ways to build; those of this machine by default. */
  readonly builders?: readonly BuilderProbe[] | undefined
  /** Makes packages of botcli for images. */
  readonly platform?: PlatformPacker | undefined
  /** What places for uploads are signed with. */
  readonly tokenKey: Uint8Array
  /** The names of agents that need a build. */
  readonly users: (organizationId: string, buildId: string) => Promise<readonly string[]>
  /** A builder that was told to stop gets this long. */
  readonly stopMs?: number | undefined
  readonly log: CloudLog
  readonly clock: Clock
}

/** Builds, ready to be served. */
export interface Builds {
  readonly service: BuildService
  readonly uploads: UploadService
  readonly directory: BuildDirectory
  readonly queue: BuildQueue
  /** Puts in order what a crash has left, and begins. */
  start(): Promise<void>
}

/** Puts together what does builds. Nothing is built before it is started. */
export async function assembleBuilds(options: BuildsOptions): Promise<Builds> {
  const { dataFolder, store, logs, secrets, settings, config, users, log, clock } = options
  const blobs = await FileBlobStore.open(join(dataFolder, 'uploads'))
  const uploads = new UploadService({ store, blobs, settings, log, clock, tokenKey: options.tokenKey })
  const bundleFolder = join(dataFolder, 'bundles')
  const probes = options.builders ?? machineBuilders(dataFolder, bundleFolder)
  const wanted = config.builders.flatMap((kind) => probes.filter((probe) => probe.kind === kind))
  const shelf = new BuilderShelf(wanted, log, clock)
  const directory = new BuildDirectory(store)
  const { seconds, memoryBytes, processes, diskBytes, concurrency, perOrganization, maxPending } = config
  const workFolder = join(dataFolder, 'work')
  const owner = randomUUID()
  const platform =
    options.platform &&
    new PlatformSupply(new PackedPlatform(join(dataFolder, 'platform'), options.platform), log)
  const runs = new BuildRuns({
    ...{ store, logs, uploads, secrets, shelf, directory, log, clock, workFolder, bundleFolder, owner },
    ...{ platform, stopMs: options.stopMs ?? STOP_MS },
    limits: { seconds, memoryBytes, processes, diskBytes },
  })
  const queue = new BuildQueue({ store, work: runs, owner, concurrency, perOrganization, log, clock })
  const service = new BuildService({
    ...{ store, logs, settings, uploads, shelf, runs, queue, directory, users, maxPending, log, clock },
  })
  return {
    ...{ service, uploads, directory, queue },
    async start() {
      await queue.start({ isAlone: true })
      await removeLeftovers(workFolder, queue)
    },
  }
}

/** Folders of builds that a killed process has left. */
async function removeLeftovers(folder: string, queue: BuildQueue): Promise<void> {
  const names = await readdir(folder).catch(() => [])
  const left = names.filter((name) => !queue.isRunning(name))
  await Promise.all(left.map((name) => rm(join(folder, name), { recursive: true, force: true })))
}
