import type { Builder, BuilderProbe } from '../builders/builder.ts'
import type { Clock, CloudLog } from '../log.ts'

/** What was found is looked at again after this long: daemons come and go. */
const FRESH_MS = 30_000

interface Found {
  readonly builders: readonly Builder[]
  /** Why the others are not there, in sentences. */
  readonly missing: readonly string[]
}

/** The builders that work on this machine, best first. */
export class BuilderShelf {
  readonly #probes: readonly BuilderProbe[]
  readonly #log: CloudLog
  readonly #clock: Clock
  #found: Promise<Found> | undefined
  #foundAt = 0

  /** Takes the ways to build, best first. */
  constructor(probes: readonly BuilderProbe[], log: CloudLog, clock: Clock) {
    this.#probes = probes
    this.#log = log
    this.#clock = clock
  }

  /** All that work now. */
  async look(): Promise<Found> {
    const now = this.#clock()
    if (this.#found === undefined || now - this.#foundAt >= FRESH_MS) {
      this.#foundAt = now
      this.#found = this.#probeAll()
    }
    return this.#found
  }

  /** The one that builds are made with, if any works. */
  async best(): Promise<Builder | undefined> {
    return (await this.look()).builders[0]
  }

  /** The builder that goes by a name now, or the one that was it in another version. */
  async named(name: string | null): Promise<Builder | undefined> {
    const { builders } = await this.look()
    const kind = name?.split(' ')[0]
    return (
      builders.find((builder) => builder.name === name) ??
      builders.find((builder) => builder.name.split(' ')[0] === kind)
    )
  }

  async #probeAll(): Promise<Found> {
    const builders: Builder[] = []
    const missing: string[] = []
    const results = await Promise.allSettled(this.#probes.map((probe) => probe.probe()))
    for (const [index, result] of results.entries()) {
      const kind = this.#probes[index]?.kind
      if (result.status === 'rejected') {
        this.#log.warn('a builder could not be looked for', { kind, error: result.reason })
        missing.push(`${kind}: it could not be looked for`)
      } else if ('unavailable' in result.value) missing.push(`${kind}: ${result.value.unavailable}`)
      else builders.push(result.value)
    }
    return { builders, missing }
  }
}
