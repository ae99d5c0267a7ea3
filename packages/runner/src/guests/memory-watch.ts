import { readFile } from 'node:fs/promises'

/** How often to look. A bot whose loop stands still can fill a machine within seconds. */
const LOOK_MS = 500

/** Looks at the size of a process from outside, where the system tells it. It does not keep the runner alive. */
export class MemoryWatch {
  readonly #timer: NodeJS.Timeout
  readonly #maxBytes: number
  readonly #onExceeded: () => void
  #exceeded = false

  constructor(pid: number, maxBytes: number, onExceeded: () => void) {
    this.#maxBytes = maxBytes
    this.#onExceeded = onExceeded
    this.#timer = setInterval(() => void this.#look(pid), LOOK_MS).unref()
  }

  /** Whether the process grew larger than it may. */
  get exceeded(): boolean {
    return this.#exceeded
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #look(pid: number): Promise<void> {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? []
    if (this.#exceeded || Number(kilobytes ?? 0) * 1024 <= this.#maxBytes) return
    this.#exceeded = true
    this.close()
    this.#onExceeded()
  }
}
