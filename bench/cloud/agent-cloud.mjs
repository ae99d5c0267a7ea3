import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Child } from '../children.mjs'
import { BOTCLI, Server, urlOf } from '../servers.mjs'
import { until, within } from '../wait.mjs'

const ECHO = fileURLToPath(new URL('../../examples/echo', import.meta.url))
const LIMIT_MS = 120_000

/** `botcli cloud` as a user starts it, with agents that run the echo example. */
export class AgentCloud extends Server {
  #folder

  /**
   * @param {string} folder everything is kept there
   * @param {{ agents?: object, keys?: { privateKey: string, publicKey: string } }} [options] settings of agents for the first
   * start, or the keys that it gave
   */
  static async start(folder, { agents = {}, keys } = {}) {
    const data = join(folder, 'data')
    const env = { HOME: folder, XDG_CONFIG_HOME: join(folder, 'config') }
    if (keys === undefined) {
      await mkdir(data)
      const config = { builds: { builders: ['native'] }, agents }
      await writeFile(join(data, 'cloud.json'), JSON.stringify(config))
    }
    const child = new Child(process.execPath, [BOTCLI, 'cloud', '--port', '0', '--data', data], { env })
    const server = new AgentCloud(child, await child.line(urlOf))
    server.#folder = folder
    server.keys = keys ?? {
      privateKey: await child.line((line) => /\bsk_\w+/.exec(line)?.[0]),
      publicKey: await child.line((line) => /\bpk_\w+/.exec(line)?.[0]),
    }
    return server
  }

  /**
   * Asks the private API.
   * @param {string} method
   * @param {string} path behind /v1
   * @param {object} [body]
   */
  async ask(method, path, body) {
    const response = await fetch(`${this.url}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${this.keys.privateKey}`, 'content-type': 'application/json' },
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(60_000),
    })
    const answer = await response.json()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${answer.error}`)
    return answer
  }

  /**
   * Builds the echo example.
   * @returns {Promise<string>} the id of the build
   */
  async build() {
    const env = { BOTCLI_CLOUD_URL: this.url, BOTCLI_API_KEY: this.keys.privateKey }
    const child = new Child(process.execPath, [BOTCLI, 'build', 'create', ECHO], { env })
    await within('the build', child.exited, LIMIT_MS)
    const { builds } = await this.ask('GET', '/builds?status=success')
    if (builds[0] === undefined) throw new Error(`The example was not built:\n${child.lastWords}`)
    return builds[0].id
  }

  /**
   * Makes an agent, and waits for its instances.
   * @param {string} name
   * @param {{ minAgents: number, maxAgents: number, sessionsPerInstance?: number }} wanted
   */
  async deploy(name, { minAgents, maxAgents, sessionsPerInstance = 1 }) {
    const buildId = await this.build()
    // The largest profile: the runner beside it has no limits at all.
    const about = { serviceName: name, buildId, agentProfile: 'agent-3x', sessionsPerInstance }
    await this.ask('POST', '/agents', { ...about, autoScaling: { minAgents, maxAgents } })
    const isReady = async () => {
      const { ready, instances, errors } = await this.ask('GET', `/agents/${name}`)
      if (errors?.length > 0) throw new Error(`${name} does not start: ${JSON.stringify(errors)}`)
      return ready && instances.filter(({ state }) => state === 'ready').length >= minAgents
    }
    await until(`${name} to be ready`, isReady, { limitMs: LIMIT_MS, everyMs: 200 })
  }

  /** The folders of the instances that are there. */
  async instances() {
    const folder = join(this.#folder, 'data/instances')
    return (await readdir(folder)).map((id) => join(folder, id))
  }

  /**
   * The first process of an instance.
   * @param {string} folder of the instance
   */
  async instancePid(folder) {
    const { run } = JSON.parse(await readFile(join(folder, 'instance.json'), 'utf8'))
    return run.process.pid
  }

  /** Waits until no instance is left. */
  async whenEmpty() {
    const isEmpty = async () => (await this.instances()).length === 0
    await until('the instances to end', isEmpty, { limitMs: LIMIT_MS, everyMs: 100 })
  }

  /** Stops it, and leaves its agents as they are. */
  async leave() {
    await super.stop()
  }

  /** Removes all agents, for their instances would outlive the cloud, and stops it. */
  async stop() {
    try {
      for (const { name } of (await this.ask('GET', '/agents')).services) {
        await this.ask('DELETE', `/agents/${name}`)
      }
      await this.whenEmpty()
    } finally {
      await this.leave()
    }
  }
}
