import type { BuildRecord } from '@botcli/protocol/cloud'
import { computed, effect, signal } from '@preact/signals'
import { ApiError, messageOf } from '../api/api-error.ts'
import type { CloudApi } from '../api/cloud-api.ts'
import { failingLine } from '../log/failing-line.ts'
import { LogModel } from '../log/log-model.ts'
import { BuildLogSource } from '../log/log-source.ts'
import { Poller } from './poller.ts'
import { isOver, shownStatus } from './words.ts'

const BUSY_MS = 2_500
const QUIET_MS = 60_000

/** One build and its log. */
export class BuildModel {
  readonly id: string
  readonly build = signal<BuildRecord | undefined>(undefined)
  readonly problem = signal<string | undefined>(undefined)
  readonly gone = signal(false)
  readonly log: LogModel
  /** The number of the line that tells why the build failed. */
  readonly failingLine = computed(() => {
    this.log.version.value
    const build = this.build.value
    const failed = build !== undefined && ['failed', 'timeout'].includes(shownStatus(build))
    return failed ? failingLine(this.log.lines, build.errorMessage ?? '') : undefined
  })

  readonly #api: CloudApi
  readonly #poller: Poller
  readonly #unwatch: () => void

  constructor(api: CloudApi, id: string) {
    this.#api = api
    this.id = id
    this.log = new LogModel(new BuildLogSource(api, id), { frame: (action) => requestAnimationFrame(action) })
    this.#poller = new Poller(
      () => this.#load(),
      () => (this.build.value === undefined || isOver(this.build.value.status) ? QUIET_MS : BUSY_MS),
    )
    void this.#poller.now()
    void this.log.open()
    // The first line and the end of the log mean that the status is another now.
    const hasLines = computed(() => this.log.version.value > 0)
    this.#unwatch = effect(() => {
      if (hasLines.value || this.log.end.value !== undefined) void this.#poller.now()
    })
  }

  close(): void {
    this.#unwatch()
    this.#poller.close()
    this.log.close()
  }

  /** Cancels the build. One that is over stays, and its end is shown. */
  async cancel(): Promise<void> {
    try {
      this.build.value = await this.#api.cancelBuild(this.id)
    } catch (error) {
      await this.#load()
      throw error
    }
  }

  /** Removes the build and its log. */
  async remove(): Promise<void> {
    await this.#api.removeBuild(this.id)
  }

  async #load(): Promise<void> {
    try {
      this.build.value = await this.#api.build(this.id)
      this.problem.value = undefined
    } catch (error) {
      // An address that somebody has typed need not even have the form of an id.
      const isNoId = error instanceof ApiError && error.status === 400
      this.gone.value = isNoId || (error instanceof ApiError && error.status === 404)
      this.problem.value = isNoId ? `There is no build ${this.id}.` : messageOf(error)
    }
  }
}
