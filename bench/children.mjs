import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { processTree } from './processes.mjs'

const STOP_MS = 8000
/** What is kept of a child's last words, for the error that tells of its end. */
const KEPT_OUTPUT = 2000

/** @type {Set<Child>} */
const running = new Set()

/** Ends every child that is left, at once. */
export function killAll() {
  for (const child of running) child.kill()
}

/** A child process whose output is always read, and of which nothing is left when it is stopped. */
export class Child {
  #process
  #output = ''
  #listeners = new Set()
  /** @type {Promise<void>} */
  exited

  /**
   * @param {string} command
   * @param {readonly string[]} args
   * @param {{ env?: Record<string, string>, cwd?: string, ipc?: boolean, link?: boolean }} [options] a link is a socket
   * pair on file descriptor 3
   */
  constructor(command, args, { env = {}, cwd, ipc = false, link = false } = {}) {
    const options = { cwd, env: { ...process.env, ...env } }
    this.#process = ipc
      ? fork(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
      : spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe', ...(link ? ['pipe'] : [])] })
    running.add(this)
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream.setEncoding('utf8')
      stream.on('data', (text) => this.#onOutput(text))
    }
    this.exited = Promise.race([once(this.#process, 'exit'), once(this.#process, 'error')]).then(() => {
      running.delete(this)
    })
  }

  get pid() {
    return this.#process.pid ?? 0
  }

  get alive() {
    return running.has(this)
  }

  get lastWords() {
    return this.#output
  }

  /** The child's end of its message channel, when it has one. */
  get channel() {
    return this.#process
  }

  /** Our end of its link, when it has one. */
  get link() {
    return this.#process.stdio[3]
  }

  /**
   * The first thing found in the lines of the child.
   * @template T
   * @param {(line: string) => T | undefined} find
   * @param {number} [limitMs]
   * @returns {Promise<T>}
   */
  async line(find, limitMs = 30_000) {
    let rest = ''
    let listener = () => {}
    const found = new Promise((resolve) => {
      listener = (text) => {
        const lines = (rest + text).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) {
          const value = find(line)
          if (value !== undefined) resolve(value)
        }
      }
      this.#listeners.add(listener)
      listener(this.#output)
    })
    const ended = this.exited.then(() => Promise.reject(new Error(`A child ended:\n${this.#output}`)))
    const late = limit(limitMs).then(() =>
      Promise.reject(new Error(`A child said nothing useful:\n${this.#output}`)),
    )
    ended.catch(() => {})
    late.catch(() => {})
    return Promise.race([found, ended, late]).finally(() => this.#listeners.delete(listener))
  }

  /** Asks the child to end, and then makes sure of it. */
  async stop() {
    const tree = this.alive ? processTree(this.pid) : []
    if (this.alive) this.#process.kill('SIGTERM')
    await Promise.race([this.exited, limit(STOP_MS)])
    for (const pid of tree) if (this.alive || pid !== this.pid) kill(pid)
    await Promise.race([this.exited, limit(1000)])
  }

  /** Ends the child and its descendants without asking. */
  kill() {
    if (this.alive) for (const pid of processTree(this.pid)) kill(pid)
  }

  #onOutput(text) {
    this.#output = (this.#output + text).slice(-KEPT_OUTPUT)
    for (const listener of this.#listeners) listener(text)
  }
}

/**
 * A wait that does not keep the benchmark alive when what was waited for has come.
 * @param {number} ms
 */
function limit(ms) {
  return pause(ms, undefined, { ref: false })
}

/** @param {number} pid */
function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // Gone already.
  }
}
