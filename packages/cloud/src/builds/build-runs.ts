import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Builder, BuildLimits, BuildResult } from '../builders/builder.ts'
import type { Clock, CloudLog } from '../log.ts'
import type { LogStore } from '../logs/log-store.ts'
import type { SecretService } from '../secrets/secret-service.ts'
import type { BuildEnd, Store, StoredBuild } from '../store/store.ts'
import type { BuildDirectory } from './build-directory.ts'
import { cancelledEnd, failedEnd, faultEnd, lostEnd, type StopReason, timeoutEnd } from './build-end.ts'
import { BuildLog } from './build-log.ts'
import type { BuildWork } from './build-queue.ts'
import type { BuilderShelf } from './builder-shelf.ts'
import { unpackContext } from './context/unpack-context.ts'
import type { PlatformSupply } from './platform/platform-supply.ts'
import type { UploadService } from './uploads/upload-service.ts'

/** What runs need. */
export interface BuildRunsOptions {
  readonly store: Store
  readonly logs: LogStore
  readonly uploads: UploadService
  readonly secrets: SecretService
  readonly shelf: BuilderShelf
  /** What brings botcli into images, if the cloud has it as packages. */
  readonly platform?: PlatformSupply | undefined
  readonly directory: BuildDirectory
  readonly limits: BuildLimits
  /** Whose leases these builds have. */
  readonly owner: string
  /** A builder that was told to stop gets this long. */
  readonly stopMs: number
  /** A folder for what is needed only during a build. */
  readonly workFolder: string
  /** A folder for what builders without images make. */
  readonly bundleFolder: string
  readonly log: CloudLog
  readonly clock: Clock
}

/**
 * Does builds, and ends those that lost their owner. The order at the end is always the same: the lines are durable, the outcome is noted, the
 * last lines tell it, the log is sealed, the status turns final. So nobody sees a final status without the line that says why, and a crash
 * at any point loses neither lines nor outcome, nor makes a log that tells two of them.
 */
export class BuildRuns implements BuildWork {
  readonly #options: BuildRunsOptions
  /** Ends that could not be noted yet, by build: nothing can be written. */
  readonly #ends = new Map<string, BuildEnd>()

  constructor(options: BuildRunsOptions) {
    this.#options = options
  }

  async run(build: StoredBuild, signal: AbortSignal): Promise<void> {
    const { log, directory } = this.#options
    directory.note(build)
    log.info('a build began', { buildId: build.id })
    const folder = join(this.#options.workFolder, build.id)
    try {
      await this.#runLogged(build, folder, signal)
    } catch (error) {
      log.error('a build or its log could not be written', { buildId: build.id, error })
      // What was written for it may be what filled the disk.
      await this.#removeFolder(folder)
      if (!isLost(signal)) await this.#endBroken(build, faultEnd(error))
    } finally {
      await this.#removeFolder(folder)
    }
  }

  async recover(build: StoredBuild): Promise<void> {
    const folder = join(this.#options.workFolder, build.id)
    // Without it nothing was begun here. What builds it then is another cloud, of which our data are a copy.
    if (existsSync(folder)) {
      const { builders } = await this.#options.shelf.look()
      await Promise.allSettled(builders.map((builder) => builder.cleanUp(build.id)))
    }
    const lost = lostEnd('What was building it ended before the build did.')
    const end = build.outcome ?? this.#ends.get(build.id) ?? (build.cancelRequested ? cancelledEnd() : lost)
    await rm(folder, { recursive: true, force: true })
    await this.endWithoutBuilder(build, end, this.#options.owner)
  }

  /** Ends a build that nobody builds. One that waits has no owner yet. */
  async endWithoutBuilder(build: StoredBuild, end: BuildEnd, owner?: string): Promise<void> {
    if ((await this.#options.logs.state(build.id)).sealed) {
      await this.#finish(build, end, owner)
      return
    }
    const buildLog = await this.#openLog(build)
    try {
      await this.#conclude(build, buildLog, end, owner)
    } finally {
      await buildLog.close()
    }
  }

  async #runLogged(build: StoredBuild, folder: string, signal: AbortSignal): Promise<void> {
    const buildLog = await this.#openLog(build)
    let end: BuildEnd | undefined
    let isNoted = false
    try {
      end = await this.#attempt(build, folder, buildLog, signal)
      // Whoever has it now writes its log, too.
      if (isLost(signal)) return
      buildLog.broken.throwIfAborted()
      await this.#conclude(build, buildLog, end, this.#options.owner, () => {
        isNoted = true
      })
    } finally {
      // What nobody is told of is not kept.
      if (end && !isNoted) await this.#discard(build, end)
      await buildLog.close()
    }
  }

  /** Ends a build whose log could not be written a moment ago, as it was noted before, or else as it ended now. */
  async #endBroken(build: StoredBuild, wanted: BuildEnd): Promise<void> {
    const { store, owner } = this.#options
    this.#ends.set(build.id, wanted)
    const now = await store.builds.get(build.organizationId, build.id)
    const end = now?.outcome ?? wanted
    // First of all, so that it holds also when the log has to wait.
    if (await store.builds.noteOutcome(build.id, end, owner)) await this.endWithoutBuilder(build, end, owner)
    this.#ends.delete(build.id)
  }

  async #discard({ id }: StoredBuild, { imageUri, builder }: BuildEnd): Promise<void> {
    if (imageUri === null) return
    try {
      await (await this.#options.shelf.named(builder))?.remove(imageUri)
    } catch (error) {
      this.#options.log.warn('the artifact of a build was not removed', { buildId: id, imageUri, error })
    }
  }

  async #removeFolder(folder: string): Promise<void> {
    await rm(folder, { recursive: true, force: true }).catch((error: unknown) => {
      this.#options.log.warn('the folder of a build was not removed', { folder, error })
    })
  }

  async #openLog(build: StoredBuild): Promise<BuildLog> {
    const { logs, secrets } = this.#options
    return BuildLog.open(logs, build.id, await secrets.redactionFor(build.organizationId))
  }

  async #attempt(
    build: StoredBuild,
    folder: string,
    buildLog: BuildLog,
    signal: AbortSignal,
  ): Promise<BuildEnd> {
    const { shelf, limits, log } = this.#options
    const { broken } = buildLog
    const { builders, missing } = await shelf.look()
    for (const why of missing) buildLog.say(`No ${why}`)
    const [builder] = builders
    if (!builder) {
      const hint = 'Install Docker or buildah where the cloud runs; the log says what was looked for.'
      return failedEnd('builder_failed', 'There is nothing on the cloud that can build.', hint)
    }
    buildLog.say(`Builder: ${builder.name}`)
    const timeout = new AbortController()
    const timer = setTimeout(() => timeout.abort(tookTooLong()), limits.seconds * 1000)
    try {
      const stop = AbortSignal.any([signal, timeout.signal, broken])
      const result = await this.#build(build, builder, folder, buildLog, stop)
      if (!stop.aborted) return endOf(result, builder, limits)
      // It was done a moment too late, and nobody is to find it.
      if (result.ok) await builder.remove(result.imageUri)
    } catch (error) {
      if (!signal.aborted && !timeout.signal.aborted && !broken.aborted) {
        log.error('a build failed for a fault of ours', { buildId: build.id, error })
        return faultEnd(error, builder.name)
      }
    } finally {
      clearTimeout(timer)
    }
    if (broken.aborted) return faultEnd(broken.reason, builder.name)
    if (!signal.aborted) return timeoutEnd(limits.seconds, builder.name)
    if (signal.reason === ('cancelled' satisfies StopReason)) return cancelledEnd(builder.name)
    return lostEnd('The cloud was stopped before the build was done.')
  }

  async #build(
    build: StoredBuild,
    builder: Builder,
    folder: string,
    buildLog: BuildLog,
    stop: AbortSignal,
  ): Promise<BuildResult> {
    const { uploads, limits, bundleFolder, platform, stopMs } = this.#options
    const packed = await uploads.packed(build.uploadId)
    if (!packed) throw new Error('the uploaded context is gone')
    await rm(folder, { recursive: true, force: true })
    const context = join(folder, 'context')
    const { secretFiles } = await unpackContext(packed, context, stop)
    if (secretFiles.length > 0) {
      const some = secretFiles.slice(0, 5).join(', ')
      buildLog.say(`Left out because they hold secrets: ${some}${secretFiles.length > 5 ? ', …' : ''}`)
    }
    const scratch = join(folder, 'scratch')
    await mkdir(scratch)
    await mkdir(bundleFolder, { recursive: true })
    const input = {
      buildId: build.id,
      context,
      scratch,
      output: join(bundleFolder, build.id),
      dockerfilePath: build.dockerfilePath,
      noCache: build.noCache,
      imageName: `localhost/botcli/${build.organizationId}:${build.id}`,
      limits,
    }
    if (platform && !builder.makesBundles)
      await withinAfterAbort(platform.supply(input, buildLog, stop), stop, stopMs)
    const work = builder.build(input, buildLog, stop)
    try {
      return await withinAfterAbort(work, stop, stopMs)
    } catch (error) {
      // A builder that was given up may still make something, which nobody is to find.
      work.then((late) => (late.ok ? builder.remove(late.imageUri) : undefined)).catch(() => {})
      throw error
    }
  }

  /** Ends a build as its owner. Nothing is written once another one owns it; then it was not noted. */
  async #conclude(
    build: StoredBuild,
    buildLog: BuildLog,
    wanted: BuildEnd,
    owner: string | undefined,
    onNoted: () => void = () => {},
  ): Promise<void> {
    const end = buildLog.redactEnd(wanted)
    await buildLog.settle()
    if (!(await this.#options.store.builds.noteOutcome(build.id, end, owner))) {
      this.#options.directory.forget(build.id)
      return
    }
    onNoted()
    await buildLog.conclude(lastLines(end))
    await buildLog.seal()
    await this.#finish(build, end, owner)
  }

  async #finish(build: StoredBuild, end: BuildEnd, owner: string | undefined): Promise<void> {
    const { store, directory, log, clock } = this.#options
    const isEnded = await store.builds.finish(build.id, end, clock(), owner)
    this.#ends.delete(build.id)
    if (!isEnded) {
      // Another one has ended it; how, is in the store.
      directory.forget(build.id)
      return
    }
    directory.note({ ...build, status: end.status })
    log.info('a build is over', {
      buildId: build.id,
      status: end.status,
      ...(end.failure && { failure: end.failure.code }),
    })
  }
}

function endOf(result: BuildResult, { name }: Builder, { seconds }: BuildLimits): BuildEnd {
  if (result.ok) {
    const { imageUri, imageSizeBytes, bases } = result
    const made = { imageUri, imageSizeBytes, builder: name, bases }
    return { status: 'success', ...made, errorMessage: null, failure: null }
  }
  if (result.timedOut) return timeoutEnd(seconds, name)
  return {
    status: 'failed',
    imageUri: null,
    imageSizeBytes: null,
    errorMessage: result.message,
    failure: result.failure,
    builder: name,
    bases: [],
  }
}

/** The last lines of a log. They are the same whenever they are made, so that they can be known again after a crash. */
function lastLines({ status, imageUri, errorMessage, failure }: BuildEnd): readonly string[] {
  if (status === 'success') return [`Built ${imageUri}.`]
  const title = status === 'timeout' ? 'Timeout' : 'Failed'
  const lines = [`${title}: ${errorMessage}`, ...(failure ? [`Hint: ${failure.hint}`] : [])]
  return lines.flatMap((line) => line.split('\n'))
}

/** Builders know by its name that it was the time limit. */
function tookTooLong(): DOMException {
  return new DOMException('The build took too long.', 'TimeoutError')
}

/** Waits for work, but after an abort only so long: a builder that hangs must not keep its build from ending. */
async function withinAfterAbort<T>(work: Promise<T>, signal: AbortSignal, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  let begin = (): void => {}
  const late = new Promise<never>((_, reject) => {
    begin = () => {
      timer = setTimeout(() => reject(new Error('the builder did not stop in time')), ms)
    }
  })
  if (signal.aborted) begin()
  signal.addEventListener('abort', begin, { once: true })
  try {
    return await Promise.race([work, late])
  } finally {
    signal.removeEventListener('abort', begin)
    clearTimeout(timer)
  }
}

function isLost(signal: AbortSignal): boolean {
  return signal.aborted && signal.reason === ('lost' satisfies StopReason)
}
