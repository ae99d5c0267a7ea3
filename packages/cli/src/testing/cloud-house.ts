import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type {
  AgentDetails,
  AgentLogEntry,
  AgentLogsResponse,
  DeploymentListResponse,
  SessionListResponse,
  SessionRecord,
} from '@botcli/protocol/cloud'
import { type Files, packed } from '../../../cloud/src/testing/cloud-fixture.ts'
import { childrenOf, isAlive } from '../../../runner/src/testing/processes.ts'
import { until } from '../../../runner/src/testing/runner-fixture.ts'
import type { Ended } from './run-command.ts'

const BIN = fileURLToPath(new URL('../../bin/botcli.js', import.meta.url))
const KILL_POINTS = fileURLToPath(new URL('./kill-points.mjs', import.meta.url))
/** Every process of a house has it in its environment: variables of this kind are handed on to instances. */
const MARK = 'LC_BOTCLI_HOUSE'
const SLOW_MS = 90_000

/** An answer that was read. */
export interface HouseAnswer<T = unknown> {
  readonly status: number
  readonly headers: Headers
  readonly body: T
}

/** Where a cloud kills itself: right before or after a statement with this text, and with this among its values. */
export interface KillPoint {
  readonly when: 'before' | 'after'
  readonly sql: string
  readonly value?: string
}

/** Keys of an organization. */
export interface HouseKeys {
  readonly privateKey: string
  readonly publicKey: string
}

/** The real `botcli cloud` as a process that can be killed, with the native builder, a data folder and a home of its own. */
export class CloudHouse {
  readonly folder: string
  readonly #relays = new Set<number>()
  #child: ChildProcess | undefined
  #text = ''
  #port = '0'
  #keys: HouseKeys = { privateKey: '', publicKey: '' }

  private constructor(folder: string) {
    this.folder = folder
  }

  static async open(agents: Readonly<Record<string, unknown>> = {}): Promise<CloudHouse> {
    const house = new CloudHouse(await mkdtemp(join(tmpdir(), 'botcli-house-')))
    await mkdir(house.data)
    await mkdir(house.#home)
    const config = { builds: { builders: ['native'] }, agents: { stopSeconds: 5, ...agents } }
    await writeFile(join(house.data, 'cloud.json'), JSON.stringify(config))
    await house.start()
    const [privateKey = ''] = /sk_\w{43}/.exec(house.#text) ?? []
    const [publicKey = ''] = /pk_\w{43}/.exec(house.#text) ?? []
    house.#keys = { privateKey, publicKey }
    return house
  }

  get data(): string {
    return join(this.folder, 'data')
  }

  get keys(): HouseKeys {
    return this.#keys
  }

  get url(): string {
    return `http://localhost:${this.#port}`
  }

  /** All that the cloud has told, over all of its lives. */
  get told(): string {
    return this.#text
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Starts it, at the address that it had before. */
  async start(): Promise<void> {
    const from = this.#text.length
    const argv = ['--import', KILL_POINTS, BIN, 'cloud', '--data', this.data, '--port', this.#port]
    const child = spawn(process.execPath, argv, {
      env: { ...this.#env, BOTCLI_KILL_FILE: this.#killFile },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#text += text
      })
    }
    const url = await until(
      () => {
        if (!this.isRunning) throw new Error(`the cloud ended: ${this.#text.slice(from)}`)
        return /"msg":"ready","url":"([^"]+)"[\s\S]*\n/.exec(this.#text.slice(from))?.[1]
      },
      'the cloud to be ready',
      SLOW_MS,
    )
    this.#port = new URL(url).port
    // The keys come after it.
    if (from === 0) await until(() => /pk_\w{43}[\s\S]*Next:/.test(this.#text), 'the keys')
  }

  /** Kills it as a power cut of one process would. */
  async kill(): Promise<void> {
    this.#child?.kill('SIGKILL')
    await this.gone()
  }

  /** Stops it as a service manager does; agents go on. */
  async stop(): Promise<void> {
    this.#child?.kill('SIGTERM')
    await this.gone()
  }

  /** Waits until its process has ended. */
  async gone(): Promise<void> {
    await until(() => !this.isRunning, 'the end of the cloud', SLOW_MS)
  }

  async restart(): Promise<void> {
    await this.kill()
    await this.start()
  }

  /** It will kill itself there. */
  async killAt(point: KillPoint): Promise<void> {
    await writeFile(`${this.#killFile}.part`, JSON.stringify(point))
    await rename(`${this.#killFile}.part`, this.#killFile)
  }

  /** Ends everything, whatever is left, and removes it. */
  async close(): Promise<void> {
    await this.kill()
    for (const pid of await this.processes()) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // It ended by itself.
      }
    }
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 })
  }

  async request<T = unknown>(
    path: string,
    { key = this.#keys.privateKey, ...init }: RequestInit & { readonly key?: string } = {},
  ): Promise<HouseAnswer<T>> {
    // On a busy machine a connection that is used again may have just been closed.
    const fresh = { connection: 'close' }
    const response = await fetch(`${this.url}${path}`, {
      ...init,
      headers: { ...fresh, ...(key !== '' && { authorization: `Bearer ${key}` }), ...init.headers },
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') === true && text !== ''
    return {
      status: response.status,
      headers: response.headers,
      body: (isJson ? JSON.parse(text) : text) as T,
    }
  }

  async send<T = unknown>(
    method: string,
    path: string,
    body: unknown,
    key?: string,
  ): Promise<HouseAnswer<T>> {
    return this.request<T>(path, { method, body: JSON.stringify(body), ...(key !== undefined && { key }) })
  }

  /** Builds a bot, and gives the id of the build. */
  async build(files: Files): Promise<string> {
    const place = await this.send<{
      uploadId: string
      uploadUrl: string
      uploadFields: Record<string, string>
    }>('POST', '/v1/builds/upload-url', { region: 'local' })
    const form = new FormData()
    for (const [name, value] of Object.entries(place.body.uploadFields)) form.append(name, value)
    form.append('file', new Blob([new Uint8Array(await packed(files))]), 'context.tar.gz')
    await fetch(place.body.uploadUrl, { method: 'POST', body: form })
    const { uploadId } = place.body
    const made = await this.send<{ build: { id: string } }>('POST', '/v1/builds', {
      uploadId,
      region: 'local',
    })
    const { id } = made.body.build
    await until(
      async () => {
        const { body } = await this.request<{ build: { status: string; errorMessage?: string } }>(
          `/v1/builds/${id}`,
        )
        if (body.build.status === 'failed') throw new Error(`the build failed: ${JSON.stringify(body)}`)
        return body.build.status === 'success'
      },
      'the build',
      2 * SLOW_MS,
    )
    return id
  }

  /** Makes an agent, and waits until it takes sessions. */
  async deployed(name: string, request: Readonly<Record<string, unknown>>): Promise<AgentDetails> {
    const { status, body } = await this.send('POST', '/v1/agents', { serviceName: name, ...request })
    if (status >= 300) throw new Error(`the agent was refused: ${JSON.stringify(body)}`)
    return this.settled(name)
  }

  async agent(name: string): Promise<AgentDetails> {
    const { status, body } = await this.request<AgentDetails>(`/v1/agents/${name}`)
    if (status !== 200) throw new Error(`${name}: ${JSON.stringify(body)}`)
    return body
  }

  /** Waits until the newest deployment of an agent takes the sessions. */
  async settled(name: string): Promise<AgentDetails> {
    return until(
      async () => {
        const agent = await this.agent(name)
        if (agent.deployment.phase === 'Failed') throw new Error(JSON.stringify(agent.deployment.failure))
        return agent.ready && agent.currentRevision.readyReplicas > 0 && agent
      },
      `${name} to take sessions`,
      SLOW_MS,
    )
  }

  async deployments(name: string): Promise<DeploymentListResponse['deployments']> {
    const { body } = await this.request<DeploymentListResponse>(`/v1/agents/${name}/deployments?limit=100`)
    return body.deployments
  }

  async startSession(name: string, body: Readonly<Record<string, unknown>> = {}) {
    return this.send<{ sessionId: string; wsUrl: string; code?: string; error?: string }>(
      'POST',
      `/v1/public/${name}/start`,
      { transport: 'websocket', body },
      this.#keys.publicKey,
    )
  }

  async sessions(name: string): Promise<readonly SessionRecord[]> {
    const { body } = await this.request<SessionListResponse>(`/v1/agents/${name}/sessions?limit=100`)
    return body.sessions
  }

  async session(name: string, id: string): Promise<SessionRecord> {
    const { body } = await this.request<SessionRecord>(`/v1/agents/${name}/sessions/${id}`)
    return body
  }

  async ended(name: string, id: string): Promise<SessionRecord> {
    return until(
      async () => {
        const session = await this.session(name, id)
        return session.state === 'ended' && session
      },
      `session ${id} to end`,
      SLOW_MS,
    )
  }

  /** Every entry of the log of an agent, the oldest first. */
  async log(name: string, query = ''): Promise<readonly AgentLogEntry[]> {
    const { body } = await this.request<AgentLogsResponse>(
      `/v1/agents/${name}/logs?limit=10000&order=asc${query}`,
    )
    return body.logs
  }

  /** The instances of which something is on the disk. */
  async instanceFolders(): Promise<readonly string[]> {
    return (await readdir(join(this.data, 'instances'))).sort()
  }

  /** Every process that this cloud or an instance of it has started, and the cloud itself. */
  async processes(): Promise<readonly number[]> {
    this.noteRelay()
    return [...(await this.#marked(`${MARK}=${this.folder}`)), ...this.relays]
  }

  /** The process that relays WebSockets is known only by who started it, so this is called while both are there. */
  noteRelay(): void {
    for (const pid of childrenOf(this.#child?.pid ?? 0, 'relay')) this.#relays.add(pid)
  }

  /** The processes that relay WebSockets. */
  get relays(): readonly number[] {
    return [...this.#relays].filter(isAlive)
  }

  /** The processes of an instance. */
  async processesOf(instanceId: string): Promise<readonly number[]> {
    return this.#marked(`BOTCLI_INSTANCE_ID=${instanceId}`)
  }

  async #marked(mark: string): Promise<readonly number[]> {
    const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
    const found = await Promise.all(
      names.map(async (name) => {
        const environment = await readFile(`/proc/${name}/environ`, 'latin1').catch(() => '')
        return environment.split('\0').includes(mark) ? [Number(name)] : []
      }),
    )
    return found.flat()
  }

  /** Kills an instance with everything in it. */
  async killInstance(instanceId: string): Promise<void> {
    const pids = await until(async () => {
      const found = await this.processesOf(instanceId)
      return found.length > 0 && found
    }, `the processes of instance ${instanceId}`)
    for (const pid of pids) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // It went with another.
      }
    }
  }

  /** Runs a command that is signed in to this cloud. */
  async command(argv: readonly string[], cwd = this.folder): Promise<Ended> {
    const env = {
      ...this.#env,
      BOTCLI_CLOUD_URL: this.url,
      BOTCLI_API_KEY: this.#keys.privateKey,
      BOTCLI_PUBLIC_KEY: this.#keys.publicKey,
    }
    const child = spawn(process.execPath, [BIN, ...argv], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    const [code] = (await once(child, 'close')) as [number | null]
    return { code, stdout, stderr }
  }

  get #home(): string {
    return join(this.folder, 'home')
  }

  get #killFile(): string {
    return join(this.folder, 'kill-at.json')
  }

  get #env(): Record<string, string> {
    return { PATH: process.env.PATH ?? '', HOME: this.#home, [MARK]: this.folder }
  }
}
