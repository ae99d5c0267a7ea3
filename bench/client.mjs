import { fileURLToPath } from 'node:url'
import { Child } from './children.mjs'
import { within } from './wait.mjs'

/** The load generator, as the benchmarks see it. */
export class Client {
  #child = new Child(fileURLToPath(new URL('client/main.mjs', import.meta.url)), [], { ipc: true })
  #nextId = 0
  /** @type {Map<number, (answer: { result?: unknown, error?: string }) => void>} */
  #waiting = new Map()

  constructor() {
    this.#child.channel.on('message', (answer) => {
      this.#waiting.get(answer.id)?.(answer)
      this.#waiting.delete(answer.id)
    })
    this.#child.exited.then(() => {
      for (const settle of this.#waiting.values()) settle({ error: `ended: ${this.#child.lastWords}` })
    })
  }

  /**
   * Has a command of client/main.mjs done.
   * @param {string} command
   * @param {object} [options]
   * @param {number} [limitMs]
   */
  async ask(command, options = {}, limitMs = 90_000) {
    if (!this.#child.alive) throw new Error(`The load generator ended: ${this.#child.lastWords}`)
    const id = this.#nextId++
    const answered = new Promise((resolve) => this.#waiting.set(id, resolve))
    this.#child.channel.send({ id, command, options })
    const { result, error } = await within(`the load generator to ${command}`, answered, limitMs)
    if (error !== undefined) throw new Error(`The load generator could not ${command}: ${error}`)
    return result
  }

  get pid() {
    return this.#child.pid
  }

  /** What the load generator complained about last. */
  get lastWords() {
    return this.#child.lastWords.trim()
  }

  async stop() {
    await this.#child.stop()
  }
}
