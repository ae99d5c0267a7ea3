import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { Child } from './children.mjs'
import { until } from './wait.mjs'

const path = (name) => fileURLToPath(new URL(name, import.meta.url))
/** The command line of the product, as installed. */
export const BOTCLI = path('../packages/cli/bin/botcli.js')

/** A server that is measured. */
export class Server {
  /**
   * @param {Child} child
   * @param {string} url
   */
  constructor(child, url) {
    this.child = child
    this.url = url
  }

  get pid() {
    return this.child.pid
  }

  async stop() {
    await this.child.stop()
  }
}

/**
 * Our runner.
 * @param {{ bot?: string, args?: readonly string[], env?: Record<string, string> }} [options]
 */
export async function startOurs({ bot = '../examples/echo', args = [], env = {} } = {}) {
  const child = new Child(process.execPath, [BOTCLI, 'run', path(bot), '--port', '0', ...args], { env })
  return new Server(child, await child.line(urlOf))
}

/**
 * A server of the folder bare/.
 * @param {string} name
 * @param {{ args?: readonly string[], env?: Record<string, string> }} [options]
 */
export async function startBare(name, { args = [], env = {} } = {}) {
  const child = new Child(process.execPath, [path(`bare/${name}.mjs`), ...args], { env })
  return new Server(child, await child.line(urlOf))
}

/**
 * The peer's runner.
 * @param {{ python: string }} peer
 * @param {{ env?: Record<string, string> }} [options]
 */
export async function startPeer({ python }, { env = {} } = {}) {
  const port = await freePort()
  const args = [path('peer/echo_bot.py'), '--host', 'localhost', '--port', String(port)]
  const child = new Child(python, args, { env, cwd: path('peer') })
  const url = `http://localhost:${port}`
  const answers = () => {
    if (!child.alive) throw new Error(`The peer ended:\n${child.lastWords}`)
    return fetch(`${url}/status`).then(
      (response) => response.ok,
      () => false,
    )
  }
  await until('the peer to listen', answers, { limitMs: 60_000, everyMs: 200 })
  return new Server(child, url)
}

/**
 * The address in a line that a server prints.
 * @param {string} line
 */
export function urlOf(line) {
  try {
    return JSON.parse(line).url
  } catch {
    return undefined
  }
}

/** The peer cannot choose one itself. */
async function freePort() {
  const server = createServer()
  await new Promise((resolve) => server.listen(0, 'localhost', resolve))
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  return port
}
