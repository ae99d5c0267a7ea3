import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Builder, BuildLimits, BuildResult } from '../builders/builder.ts'
import type { Clock, CloudLog } from '../log.ts'
import type { LogStore } from '../logs/log-store.ts'
import type { SecretService } from '../secrets/secret-service.ts'
import type { BuildEnd, Store, StoredBuild } from '../store/store.ts'
import type { BuildDirectory } from './build-directory.ts'
import { cancelledEnd, failedEnd, lostEnd, type StopReason, timeoutEnd } from './build-end.ts'
import { BuildLog } from './build-log.ts'
import type { BuildWork } from './build-queue.ts'
import type { BuilderShelf } from './builder-shelf.ts'
import { unpackContext } from './context/unpack-context.ts'
import type { UploadService } from './uploads/upload-service.ts'

/** A builder that was told to stop gets this long. */
const STOP_MS = 30_000

/** What runs need. */
export interface BuildRunsOptions {
  readonly store: Store
  readonly logs: LogStore
  readonly uploads: UploadService
  readonly secrets: SecretService
  readonly shelf: BuilderShelf
  readonly directory: BuildDirectory
  readonly limits: BuildLimits
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

  constructor(options: BuildRunsOptions) {
    this.#options = options
  }

  async run(build: StoredBuild, signal: AbortSignal): Promise<void> {
    const { log, directory } = this.#options
    directory.note(build)
    log.info('a build began', { buildId: build.id })
    const buildLog = await this.#openLog(build)
    const folder = join(this.#options.workFolder, build.id)
    try {
      const end = await this.#attempt(build, folder, buildLog, signal)
      // Whoever has it now writes its log, too.
      if (signal.aborted && signal.reason === ('lost' satisfies StopReason)) return
      await this.#conclude(build, buildLog, end)
    } finally {
      await buildLog.close()
      await rm(folder, { recursive: true, force: true }).catch((error: unknown) => {
        log.warn('the folder of a build was not removed', { buildId: build.id, error })
      })
    }
  }

  async recover(build: StoredBuild): Promise<void> {
    const { builders } = await this.#options.shelf.look()
    await Promise.allSettled(builders.map((builder) => builder.cleanUp(build.id)))
    const lost = lostEnd('What was building it ended before the build did.')
    await this.endWithoutBuilder(build, build.outcome ?? (build.cancelRequested ? cancelledEnd() : lost))
    await rm(join(this.#options.workFolder, build.id), { recursive: true, force: true })
  }

  /** Ends a build that nobody builds. */
  async endWithoutBuilder(build: StoredBuild, end: BuildEnd): Promise<void> {
    if ((await this.#options.logs.state(build.id)).sealed) {
      await this.#finish(build, end)
      return
    }
    const buildLog = await this.#openLog(build)
    try {
      await this.#conclude(build, buildLog, end)
    } finally {
      await buildLog.close()
    }
  }

  async #openLog(build: StoredBuild): Promise<BuildLog> {
    const { logs, secrets } = this.#options
    return BuildLog.open(logs, build.id, await secrets.valuesOf(build.organizationId))
  }

  async #attempt(
    build: StoredBuild,
    folder: string,
    buildLog: BuildLog,
    signal: AbortSignal,
  ): Promise<BuildEnd> {
    const { shelf, limits, log } = this.#options
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
      const stop = AbortSignal.any([signal, timeout.signal])
      const result = await this.#build(build, builder, folder, buildLog, stop)
      if (!stop.aborted) return endOf(result, builder, limits)
      // It was done a moment too late, and nobody is to find it.
      if (result.ok) await builder.remove(result.imageUri)
    } catch (error) {
      if (!signal.aborted && !timeout.signal.aborted) {
        log.error('a build failed for a fault of ours', { buildId: build.id, error })
        const hint = 'Create the build again. If it happens again, the log of the cloud says more.'
        return failedEnd('builder_failed', `The builder failed: ${messageOf(error)}`, hint, builder.name)
      }
    } finally {
      clearTimeout(timer)
    }
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
    const { uploads, limits, bundleFolder } = this.#options
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
    return withinAfterAbort(builder.build(input, buildLog, stop), stop, STOP_MS)
  }

  async #conclude(build: StoredBuild, buildLog: BuildLog, wanted: BuildEnd): Promise<void> {
    const end = buildLog.redactEnd(wanted)
    await buildLog.settle()
    await this.#options.store.builds.noteOutcome(build.id, end)
    await buildLog.conclude(lastLines(end))
    await buildLog.seal()
    await this.#finish(build, end)
  }

  async #finish(build: StoredBuild, end: BuildEnd): Promise<void> {
    const { store, directory, log, clock } = this.#options
    await store.builds.finish(build.id, end, clock())
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
    const { imageUri, imageSizeBytes } = result
    return { status: 'success', imageUri, imageSizeBytes, errorMessage: null, failure: null, builder: name }
  }
  if (result.timedOut) return timeoutEnd(seconds, name)
  return {
    status: 'failed',
    imageUri: null,
    imageSizeBytes: null,
    errorMessage: result.message,
    failure: result.failure,
    builder: name,
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
