import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { CarrierId, StartRequest } from '@botcli/protocol'
import type {
  AgentDetails,
  AgentLogEntry,
  AgentLogsResponse,
  PublicStartResponse,
  SessionListResponse,
  SessionRecord,
} from '@botcli/protocol/cloud'
import { type RunningCloud, startCloud } from '../../../cloud/src/cloud.ts'
import type { Engine } from '../../../cloud/src/engine/engine.ts'
import { openProcessEngine } from '../../../cloud/src/engine/open-process-engine.ts'
import type { FirstKeys } from '../../../cloud/src/first-start.ts'
import { until } from '../../../runner/src/testing/runner-fixture.ts'
import { copyExample } from './example.ts'
import { typed } from './typed-command.ts'

const REPOSITORY = resolve(import.meta.dirname, '../../../..')
const RUNNER = [process.execPath, join(REPOSITORY, 'packages/cli/bin/botcli.js')]

/** What a test may choose. */
export interface TalkHouseOptions {
  /** The engine of this machine, or what a test makes of it. */
  readonly engine?: (own: Engine) => Engine
}

/** What a test deploys: the name of an example, or a bot of its own. */
export type Deployed = string | { readonly files: Readonly<Record<string, string>> }

/** A cloud that builds and runs bots for real, and a user who is signed in to it. */
export class TalkHouse {
  readonly #folder: string
  readonly #cloud: RunningCloud
  readonly #keys: FirstKeys
  /** What the cloud has told, as JSON. */
  readonly told: readonly string[]

  private constructor(folder: string, cloud: RunningCloud, told: readonly string[]) {
    if (!cloud.firstKeys) throw new Error('this was not the first start')
    this.#folder = folder
    this.#cloud = cloud
    this.#keys = cloud.firstKeys
    this.told = told
  }

  static async open({ engine = (own) => own }: TalkHouseOptions = {}): Promise<TalkHouse> {
    const folder = await mkdtemp(join(tmpdir(), 'botcli-talk-'))
    const dataFolder = join(folder, 'data')
    await mkdir(dataFolder, { mode: 0o700 })
    // An instance may take its time on a machine that has much to do.
    const config = { builds: { builders: ['native'] }, agents: { startSeconds: 120 } }
    await writeFile(join(dataFolder, 'cloud.json'), JSON.stringify(config))
    const told: string[] = []
    const tell = (message: string, fields: object = {}) =>
      void told.push(JSON.stringify({ message, ...fields }))
    const log = { info: tell, warn: tell, error: tell }
    const own = await openProcessEngine({
      ...{ dataFolder, folder: join(dataFolder, 'instances'), runner: RUNNER, log },
    })
    const where = { dataFolder, host: '127.0.0.1', port: 0 }
    const cloud = await startCloud({ ...where, engine: engine(own), log, version: '0.0.0' })
    return new TalkHouse(folder, cloud, told)
  }

  get url(): string {
    return this.#cloud.url
  }

  get privateKey(): string {
    return this.#keys.privateKey
  }

  get publicKey(): string {
    return this.#keys.publicKey
  }

  /** Types a command that has to work, and gives what it printed. */
  async botcli(argv: readonly string[], cwd = this.#folder): Promise<string> {
    const env = {
      BOTCLI_CLOUD_URL: this.url,
      BOTCLI_API_KEY: this.#keys.privateKey,
      BOTCLI_PUBLIC_KEY: this.#keys.publicKey,
    }
    const { code, stdout, stderr } = await typed(argv, { env, cwd })
    if (code === 0) return stdout
    throw new Error(`botcli ${argv.join(' ')} ended with ${code}:\n${stderr}\n${stdout}`)
  }

  /** Deploys what is in a folder of its own, as a user does. */
  async deploy(what: Deployed, options: readonly string[] = []): Promise<void> {
    const cwd = await mkdtemp(join(this.#folder, 'project-'))
    if (typeof what === 'string') await copyExample(what, cwd)
    else for (const [name, text] of Object.entries(what.files)) await writeFile(join(cwd, name), text)
    await this.botcli(['deploy', ...options], cwd)
  }

  /** Calls an agent with sound from a file, and gives what the caller heard, as a WAV file, with the session's id. */
  async call(
    agent: string,
    carrier: CarrierId,
    sound: Uint8Array,
  ): Promise<{ readonly sessionId: string; readonly heard: string }> {
    const cwd = await mkdtemp(join(this.#folder, 'call-'))
    await writeFile(join(cwd, 'said.wav'), sound)
    const options = ['--say', 'said.wav', '--save', 'heard.wav', '--for', '60s', '--json']
    const printed = await this.botcli(['call', '--agent', agent, '--as', carrier, ...options], cwd)
    const { sessionId } = JSON.parse(printed.split('\n')[0] ?? '') as { sessionId: string }
    return { sessionId, heard: join(cwd, 'heard.wav') }
  }

  /** Starts a session as a client does. */
  async start(agent: string, request: Partial<StartRequest>): Promise<PublicStartResponse> {
    const path = `/v1/public/${agent}/start`
    return this.#ask('POST', path, this.#keys.publicKey, request) as Promise<PublicStartResponse>
  }

  /** Asks the API of the operator. */
  async ask(method: string, path: string, body?: unknown): Promise<unknown> {
    return this.#ask(method, path, this.#keys.privateKey, body)
  }

  async agent(name: string): Promise<AgentDetails> {
    return (await this.ask('GET', `/v1/agents/${name}`)) as AgentDetails
  }

  async sessions(agent: string): Promise<readonly SessionRecord[]> {
    const answer = await this.ask('GET', `/v1/agents/${agent}/sessions?limit=100`)
    return (answer as SessionListResponse).sessions
  }

  async session(agent: string, id: string): Promise<SessionRecord> {
    return (await this.ask('GET', `/v1/agents/${agent}/sessions/${id}`)) as SessionRecord
  }

  /** Waits until the cloud has heard that the caller of a session is there: its bot knows that a moment before. */
  async active(agent: string, id: string): Promise<SessionRecord> {
    return until(async () => {
      const session = await this.session(agent, id)
      return session.state === 'active' && session
    }, `session ${id} to be active`)
  }

  /** Waits until a session is over. */
  async ended(agent: string, id: string): Promise<SessionRecord> {
    return until(async () => {
      const session = await this.session(agent, id)
      return session.state === 'ended' && session
    }, `session ${id} to end`)
  }

  /** The log of an agent, or of one of its sessions, oldest first. */
  async logs(agent: string, sessionId?: string): Promise<readonly AgentLogEntry[]> {
    const which = sessionId === undefined ? '' : `&sessionId=${sessionId}`
    const answer = await this.ask('GET', `/v1/agents/${agent}/logs?limit=10000&order=asc${which}`)
    return (answer as AgentLogsResponse).logs
  }

  /** Ends everything, with all agents. */
  async close(): Promise<void> {
    await this.#cloud.close({ deadlineMs: 0, endAgents: true })
    await rm(this.#folder, { recursive: true, force: true })
  }

  async #ask(method: string, path: string, key: string, body?: unknown): Promise<unknown> {
    // On a busy machine a connection that is used again may have just been closed.
    const fresh = { connection: 'close' }
    const headers = { ...fresh, authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const response = await fetch(new URL(path, this.url), init)
    const text = await response.text()
    if (response.ok) return JSON.parse(text)
    throw new Error(`${method} ${path} was answered with ${response.status}: ${text}`)
  }
}
