import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { RunnerError } from '../errors.ts'
import type { Logger } from '../log/logger.ts'
import { type Guest, type GuestExit, KILLED } from './guest.ts'
import { GuestLink } from './guest-link.ts'
import { GuestOutput } from './guest-output.ts'
import type { KernelKills } from './kernel-kills.ts'
import type { GuestStreams, LinkDoor } from './link-door.ts'
import { MemoryWatch } from './memory-watch.ts'
import { endGroup, isThere, signalGroup } from './process-group.ts'
import type { ForkedChild, PythonTemplate } from './python-template.ts'
import { within } from './within.ts'

/** Its code is loaded already, so that a guest only has to connect and to say so. */
const ARRIVE_MS = 10_000
/** After a polite signal, a process that does not end is killed. */
const TERM_GRACE_MS = 500
/** What a process has written before its end is read within this. */
const LAST_LINES_MS = 200
/** After this a killed process counts as ended, even if nobody has seen it. */
const KILLED_MS = 2000
/** How often to look for a guest whose end nobody will tell. */
const LOOK_MS = 250

/** What a forked guest is made of. */
export interface ForkedGuestOptions {
  readonly version: number
  readonly template: PythonTemplate
  readonly door: LinkDoor
  readonly maxMemoryBytes: number
  /** Tells what the kernel has ended for want of memory. */
  readonly kills?: KernelKills | undefined
  readonly logger: Logger
  /** Aborted when nobody waits for the guest any more. */
  readonly unwanted?: AbortSignal
}

/** A guest that was forked from a template which has loaded the user's code. */
export class ForkedGuest implements Guest {
  readonly version: number
  readonly exited: Promise<GuestExit>
  readonly #child: ForkedChild
  readonly #closed: Promise<unknown>
  readonly #link: GuestLink
  readonly #output: GuestOutput
  readonly #memory: MemoryWatch
  readonly #kills: KernelKills | undefined
  #isKilled = false
  #giveUp: () => void = () => {}

  private constructor(child: ForkedChild, streams: GuestStreams, options: ForkedGuestOptions) {
    const { version, logger, maxMemoryBytes, kills } = options
    this.version = version
    this.#kills = kills
    this.#child = child
    const { stdout, stderr, link } = streams
    this.#closed = Promise.all([closing(stdout), closing(stderr)])
    this.#output = new GuestOutput(logger, stdout, stderr)
    this.#link = new GuestLink(link)
    this.#memory = new MemoryWatch(child.pid, maxMemoryBytes, () => this.#kill())
    const unseen = new Promise<GuestExit>((resolve) => {
      this.#giveUp = () => resolve({ how: KILLED, outOfMemory: false })
    })
    this.exited = Promise.race([this.#watchExit(), unseen])
  }

  /** Forks a guest and waits until it is ready. */
  static async start(options: ForkedGuestOptions): Promise<ForkedGuest> {
    const { template, door, unwanted } = options
    const visit = door.expect()
    try {
      const child = await template.fork(visit.id, door.path)
      const streams = await arrival(child, visit.arrived, unwanted)
      const guest = new ForkedGuest(child, streams, options)
      const error = await guest.#link.loaded({ exited: guest.exited, limitMs: ARRIVE_MS, unwanted })
      if (error === undefined) return guest
      await guest.stop(0)
      throw error
    } finally {
      visit.cancel()
    }
  }

  get passThrough(): boolean {
    return this.#link.passThrough
  }

  release(logger: Logger): Duplex {
    this.#output.logger = logger
    return this.#link.release()
  }

  async stop(graceMs: number): Promise<void> {
    if (await within(this.exited, graceMs)) return
    signalGroup(this.#child.pid, 'SIGTERM')
    if (await within(this.exited, TERM_GRACE_MS)) return
    this.#kill()
    if (await within(this.exited, KILLED_MS)) return
    this.#memory.close()
    this.#giveUp()
  }

  async #watchExit(): Promise<GuestExit> {
    const { pid, exited } = this.#child
    const told = await exited
    const how = told ?? (await this.#lookForEnd())
    this.#memory.close()
    await within(this.#closed, LAST_LINES_MS)
    endGroup(pid)
    // The kernel may have ended its template as well, and then nobody tells.
    const isByKernel = (told ?? KILLED) === KILLED && !this.#isKilled
    if (this.#memory.exceeded || this.#output.outOfMemory || (isByKernel && this.#kills?.claim()))
      return { how: 'ran out of memory', outOfMemory: true }
    return { how, outOfMemory: false }
  }

  #kill(): void {
    this.#isKilled = true
    signalGroup(this.#child.pid, 'SIGKILL')
  }

  /** The template is gone, so that only the guest's own traces tell whether it lives. */
  async #lookForEnd(): Promise<string> {
    while (!(await within(this.#closed, LOOK_MS))) if (!isThere(this.#child.pid)) break
    return 'ended'
  }
}

/** The streams of a child, or an error and no child when they do not come. */
async function arrival(
  { pid, exited }: ForkedChild,
  arrived: Promise<GuestStreams>,
  unwanted: AbortSignal | undefined,
): Promise<GuestStreams> {
  let free = () => {}
  const cut = new Promise<string>((resolve) => {
    const timer = setTimeout(() => resolve('did not come to its socket'), ARRIVE_MS)
    const abort = () => resolve('is not wanted any more')
    unwanted?.addEventListener('abort', abort)
    if (unwanted?.aborted) abort()
    free = () => {
      clearTimeout(timer)
      unwanted?.removeEventListener('abort', abort)
    }
    void exited.then((how) => resolve(how ?? 'ended'))
  })
  const outcome = await Promise.race([arrived, cut])
  free()
  if (typeof outcome !== 'string') return outcome
  void arrived.then((late) => {
    for (const stream of Object.values(late)) stream.destroy()
  })
  signalGroup(pid, 'SIGKILL')
  await within(exited, KILLED_MS)
  endGroup(pid)
  throw new RunnerError('bot_load_failed', `The bot's process ${outcome} before it was ready.`)
}

function closing(stream: Duplex): Promise<unknown> {
  return stream.closed ? Promise.resolve() : once(stream, 'close').catch(() => {})
}
