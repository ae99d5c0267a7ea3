import {
  type BuildRecord,
  type CreateBuildRequest,
  type CreateBuildResponse,
  isFinal,
} from '@botcli/protocol/cloud'
import { EXIT } from '../exit-codes.ts'
import type { CloudClient } from '../remote/cloud-client.ts'
import type { Desk } from '../remote/desk.ts'
import { RemoteError } from '../remote/remote-error.ts'
import { cancelBuild } from './cancel.ts'
import { type BuildContext, readContext } from './context/context.ts'
import { CreationReport } from './creation-report.ts'
import { planBuild } from './plan.ts'
import { exitCodeOf } from './report.ts'
import { ContextSending } from './sending.ts'
import { watchLog } from './watch.ts'

/** After this long it is told that a build waits for others. */
const WAITING_TOLD_MS = 2000
/** For so long the end of a cancelled build is waited for. */
const CANCEL_LIMIT_MS = 20_000

/** What the command line asks for. */
export interface CreationWish {
  readonly directory: string
  readonly dockerfile: string | undefined
  readonly region: string | undefined
  readonly noCache: boolean
  readonly list: boolean
  readonly detach: boolean
}

/** What is built, and how. */
export interface WantedBuild {
  readonly context: BuildContext
  readonly region: string
  readonly noCache: boolean
}

/** One build: cache, upload, build, log, outcome. */
export class BuildCreation {
  readonly #desk: Desk
  readonly #report: CreationReport
  /** Whether the cloud may have made a build. */
  #isAskedFor = false
  #isFollowed = false

  constructor(desk: Desk, report: CreationReport = new CreationReport(desk)) {
    this.#desk = desk
    this.#report = report
  }

  /** `build create`: gives the exit code. */
  async run(wish: CreationWish): Promise<number> {
    const { io, signal, interrupt } = this.#desk
    const plan = await planBuild({ ...wish, cwd: io.cwd() })
    const context = await readContext({ ...plan, signal })
    if (wish.list) {
      this.#report.files(context)
      return EXIT.ok
    }
    const client = await this.#desk.connect()
    this.#report.context(context)
    const region = plan.region ?? (await client.properties()).defaultRegion
    const wanted = { context, region, noCache: wish.noCache }
    if (wish.detach) return this.#told(() => this.#detach(client, wanted))
    const build = await this.build(client, wanted)
    return interrupt.exitCode ?? exitCodeOf(build)
  }

  /** Builds, or takes what was built before, and gives the build once it is over, for better or worse. Ctrl-C cancels it. */
  build(client: CloudClient, wanted: WantedBuild): Promise<BuildRecord> {
    return this.#told(async () => {
      const { build, cached } = await this.#begin(client, wanted)
      if (!cached) return this.#follow(client, build)
      this.#report.outcome(build, { cached })
      return build
    })
  }

  async #detach(client: CloudClient, wanted: WantedBuild): Promise<number> {
    const { build, cached } = await this.#begin(client, wanted)
    if (!cached) {
      this.#report.detached(build)
      return EXIT.ok
    }
    this.#report.outcome(build, { cached })
    this.#report.id(build)
    return exitCodeOf(build)
  }

  /** Tells what is left behind when somebody stops it. */
  async #told<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (this.#desk.signal.aborted && !this.#isFollowed) this.#report.stopped(this.#isAskedFor)
      throw error
    }
  }

  /** Finds a build that serves as well, or makes one. */
  async #begin(
    client: CloudClient,
    { context, region, noCache }: WantedBuild,
  ): Promise<{ readonly build: BuildRecord; readonly cached: boolean }> {
    const before = noCache ? undefined : await this.#findSame(client, context, region)
    if (before !== undefined) return { build: before, cached: true }
    const { build, cached } = await this.#make(client, { context, region, noCache })
    if (cached && isFinal(build.status)) return { build, cached }
    this.#report.made(build, client.url)
    return { build, cached: false }
  }

  async #findSame(
    client: CloudClient,
    context: BuildContext,
    region: string,
  ): Promise<BuildRecord | undefined> {
    const same = { region, contextHash: context.hash, dockerfilePath: context.dockerfile }
    return (await client.listBuilds({ ...same, reusable: 'true' })).builds[0]
  }

  async #make(client: CloudClient, { context, region, noCache }: WantedBuild): Promise<CreateBuildResponse> {
    const uploadId = await new ContextSending(this.#desk, this.#report).send(client, context, region)
    this.#desk.signal.throwIfAborted()
    const request = { uploadId, region, dockerfilePath: context.dockerfile, noCache }
    const created = await this.#ask(client, request)
    if (created.contextHash !== context.hash) {
      this.#report.note(
        'The cloud has another hash for these files than this botcli: is it of another version?',
      )
    }
    return created
  }

  /** Once it is asked for there may be a build, which Ctrl-C has to cancel: so the answer is waited for. */
  async #ask(client: CloudClient, request: CreateBuildRequest): Promise<CreateBuildResponse> {
    const { signal } = this.#desk
    const onInterrupt = () =>
      this.#report.note('Waiting for the build to be made, to cancel it. Ctrl-C again leaves at once.')
    this.#isAskedFor = true
    signal.addEventListener('abort', onInterrupt)
    try {
      return await client.createBuild(request, new AbortController().signal)
    } finally {
      signal.removeEventListener('abort', onInterrupt)
    }
  }

  async #follow(client: CloudClient, { id }: BuildRecord): Promise<BuildRecord> {
    const { interrupt } = this.#desk
    this.#isFollowed = true
    // Its log is followed on while it is being cancelled.
    const following = new AbortController()
    const timers = [setTimeout(() => void this.#tellIfWaiting(client, id), WAITING_TOLD_MS)]
    const cancel = async () => {
      this.#report.note('Cancelling the build. Ctrl-C again leaves at once.')
      timers.push(setTimeout(() => following.abort(), CANCEL_LIMIT_MS))
      try {
        await cancelBuild(client, id, following.signal)
      } catch (error) {
        if (!(error instanceof RemoteError)) throw error
        this.#report.note(`The build could not be cancelled: ${error.message}`)
        following.abort()
      }
    }
    let cancelling: Promise<void> | undefined
    const onInterrupt = () => {
      cancelling = cancel()
      cancelling.catch(() => following.abort())
    }
    interrupt.signal.addEventListener('abort', onInterrupt, { once: true })
    if (interrupt.signal.aborted) onInterrupt()
    try {
      await watchLog(client, id, this.#desk, { signal: following.signal })
      await cancelling
      const build = await client.getBuild(id, following.signal)
      this.#report.outcome(build, { cached: false })
      return build
    } catch (error) {
      const isLost = error instanceof RemoteError && error.code === 'CONNECTION_LOST'
      if (isLost || interrupt.signal.aborted) this.#report.left(id)
      throw error
    } finally {
      interrupt.signal.removeEventListener('abort', onInterrupt)
      for (const timer of timers) clearTimeout(timer)
    }
  }

  /** A build that waits has no log yet, and would look like one that hangs. */
  async #tellIfWaiting(client: CloudClient, id: string): Promise<void> {
    const build = await client.getBuild(id).catch(() => undefined)
    if (build?.status === 'pending') this.#report.note('It waits for its turn: other builds are being done.')
  }
}
