import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { FileBlobStore } from '../blobs/file-blob-store.ts'
import type { Builder } from '../builders/builder.ts'
import { DEFAULT_CONFIG } from '../config.ts'
import { parseLines } from '../logs/log-text.ts'
import { SegmentLogStore } from '../logs/segment-log-store.ts'
import { SecretBox } from '../secrets/secret-box.ts'
import { SecretService } from '../secrets/secret-service.ts'
import { SettingsService } from '../settings/settings-service.ts'
import { SqliteStore } from '../store/sqlite-store.ts'
import { packed, until } from '../testing/cloud-fixture.ts'
import { NO_USERS } from '../testing/no-users.ts'
import { BuildDirectory } from './build-directory.ts'
import { BuildQueue, type QueueTimes } from './build-queue.ts'
import { BuildRuns } from './build-runs.ts'
import { BuilderShelf } from './builder-shelf.ts'
import { UploadService } from './uploads/upload-service.ts'

const NEVER = 2 ** 30
const ORGANIZATION = randomUUID()
const BUILD = randomUUID()

let folder: string
let store: SqliteStore
const owners: Owner[] = []
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'botcli-lease-'))
  store = new SqliteStore(join(folder, 'cloud.db'))
  await store.organizations.create({ id: ORGANIZATION, name: 'o', defaultRegion: 'local', createdAt: 1 })
})
afterEach(async () => {
  for (const owner of owners.splice(0)) await owner.close()
  await store.close()
  await rm(folder, { recursive: true })
})

/** A builder that ends when it is told to. */
class HeldBuilder implements Builder {
  readonly name = 'held 1'
  readonly removed: string[] = []
  stopped: unknown
  release = (): void => {}
  say = (_: string): void => {}

  async build(...[, output, signal]: Parameters<Builder['build']>): ReturnType<Builder['build']> {
    this.say = (line) => output.say(line)
    await new Promise<void>((resolve, reject) => {
      this.release = resolve
      signal.addEventListener('abort', () => {
        this.stopped = signal.reason
        reject(signal.reason)
      })
      output.say('begun')
    })
    return { ok: true, imageUri: 'made', imageSizeBytes: 1, bases: [] }
  }

  async cleanUp(): Promise<void> {}

  async isFresh(): Promise<boolean> {
    return true
  }

  async remove(uri: string): Promise<void> {
    this.removed.push(uri)
  }
}

/** One of several processes that share a store. Each has logs of its own here, so that it shows who has written what. */
class Owner {
  readonly builder = new HeldBuilder()
  readonly queue: BuildQueue
  readonly #logs: SegmentLogStore

  private constructor(queue: (owner: Owner, logs: SegmentLogStore) => BuildQueue, logs: SegmentLogStore) {
    this.#logs = logs
    this.queue = queue(this, logs)
  }

  static async start(name: string, clock: () => number, times: Partial<QueueTimes>): Promise<Owner> {
    const log = { info: () => {}, warn: () => {}, error: () => {} }
    const blobs = await FileBlobStore.open(join(folder, 'uploads'))
    const settings = new SettingsService(store, DEFAULT_CONFIG.regions)
    const box = new SecretBox({ id: '00000000', bytes: Buffer.alloc(32) })
    const uploads = new UploadService({ store, blobs, settings, log, clock, tokenKey: Buffer.alloc(32) })
    const upload = randomUUID()
    if (name === 'first') {
      await blobs.put(upload, Readable.from([await packed({ Dockerfile: 'x\n' })]), 1e6)
      const times = { createdAt: 1, expiresAt: 9e15 }
      const content = { region: 'local', contextHash: 'hash', contextSizeBytes: 2 }
      await store.uploads.create({ id: upload, organizationId: ORGANIZATION, ...content, ...times })
      await store.builds.create({
        ...{ id: BUILD, organizationId: ORGANIZATION, status: 'pending', uploadId: upload, ...content },
        ...{ dockerfilePath: 'Dockerfile', noCache: false, imageUri: null, imageSizeBytes: null },
        ...{
          errorMessage: null,
          failure: null,
          builder: null,
          bases: [],
          outcome: null,
          cancelRequested: false,
        },
        ...{ createdAt: 1, updatedAt: 1, startedAt: null, completedAt: null },
      })
    }
    const owner = new Owner(
      (self, logs) => {
        const probe = { kind: 'native' as const, probe: async () => self.builder }
        const work = new BuildRuns({
          ...{ store, logs, uploads, log, clock, owner: name, stopMs: 1000 },
          secrets: new SecretService({ store, box, settings, clock, users: NO_USERS }),
          shelf: new BuilderShelf([probe], log, clock),
          directory: new BuildDirectory(store),
          limits: { seconds: 600, memoryBytes: 1e9, processes: 100, diskBytes: 1e9 },
          workFolder: join(folder, `${name}-work`),
          bundleFolder: join(folder, 'bundles'),
        })
        return new BuildQueue({
          ...{ store, work, owner: name, concurrency: 1, perOrganization: 1, log, clock },
          times: { leaseMs: 60_000, renewMs: NEVER, sweepMs: NEVER, pollMs: NEVER, ...times },
        })
      },
      new SegmentLogStore(join(folder, `${name}-logs`)),
    )
    owners.push(owner)
    await owner.queue.start({ isAlone: false })
    return owner
  }

  async lines(): Promise<readonly string[]> {
    const page = this.#logs.tail(BUILD, 100)
    const body = Buffer.alloc(page.bytes)
    await page.copyTo(body)
    return parseLines(body)
  }

  get isSealed(): boolean {
    return this.#logs.state(BUILD).sealed
  }

  async close(): Promise<void> {
    await this.queue.close({ deadlineMs: 0 })
    await this.#logs.close()
  }
}

const now = () => Date.now()
const later = () => Date.now() + 120_000
const record = () => store.builds.get(ORGANIZATION, BUILD)

it('is lost to another owner when it was not renewed: the first one stops and writes nothing more', async () => {
  const first = await Owner.start('first', now, { renewMs: 10 })
  await until(async () => (await first.lines()).includes('begun'), 'the build to run')
  // The clock of the second is ahead by more than a lease.
  const second = await Owner.start('second', later, {})
  await until(() => !first.queue.isRunning(BUILD), 'the first to stop')
  expect(first.builder.stopped).toBe('lost')
  expect(await record()).toMatchObject({ status: 'failed', failure: { code: 'builder_lost' } })
  expect((await second.lines()).at(-2)).toBe('Failed: What was building it ended before the build did.')
  expect(second.isSealed).toBe(true)
  expect(await first.lines()).toEqual(['Builder: held 1', 'begun'])
  expect(first.isSealed).toBe(false)
})

it('is lost also to an owner that does not notice it: its outcome does not count, and what it made goes', async () => {
  const first = await Owner.start('first', now, {})
  await until(async () => (await first.lines()).includes('begun'), 'the build to run')
  await Owner.start('second', later, {})
  const ended = await record()
  expect(ended).toMatchObject({ status: 'failed', failure: { code: 'builder_lost' } })
  first.builder.release()
  await until(() => !first.queue.isRunning(BUILD), 'the first to end')
  expect(first.builder.stopped).toBeUndefined()
  expect(first.builder.removed).toEqual(['made'])
  expect(await first.lines()).toEqual(['Builder: held 1', 'begun'])
  expect(first.isSealed).toBe(false)
  expect(await record()).toEqual(ended)
})

it('is kept as long as it is renewed', async () => {
  const first = await Owner.start('first', later, { renewMs: 10 })
  await until(async () => (await first.lines()).includes('begun'), 'the build to run')
  const second = await Owner.start('second', now, { sweepMs: 10 })
  first.builder.say('still here')
  first.builder.release()
  await until(() => !first.queue.isRunning(BUILD), 'the first to end')
  expect(await record()).toMatchObject({ status: 'success', imageUri: 'made' })
  expect((await first.lines()).at(-1)).toBe('Built made.')
  expect(await second.lines()).toEqual([])
})
