import { appendFileSync, mkdirSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EndCause, journalFile, outcomeOf, SESSION_ID_HEADER, type SessionView } from '@botcli/protocol'
import type { Engine, Instance, InstanceExit, InstanceSpec } from '../engine/engine.ts'
import { removeFolder } from '../engine/remove-folder.ts'

/** How the next instances behave. */
export interface InstanceScript {
  /** What it prints and ends with instead of becoming ready. */
  readonly fails?: { readonly code: number; readonly output: string }
  /** It becomes ready when it is told to. */
  readonly waits?: boolean
  /** It does not end when it is stopped, but when the test lets it. */
  readonly lingers?: boolean
  /** The status with which it refuses every start. */
  readonly refuses?: number
  /** Its image is being fetched until it is not wanted any more. */
  readonly fetches?: boolean
}

/** An instance inside of the test, which behaves by the contract: a server on a Unix socket, and a journal. */
export class ScriptedInstance implements Instance {
  readonly id: string
  readonly spec: InstanceSpec
  readonly socketPath: string
  readonly journalFolder: string
  readonly outputPath: string
  readonly exited: Promise<InstanceExit>
  readonly sessions = new Map<string, SessionView>()
  /** Those that are over. */
  readonly ended = new Map<string, SessionView>()
  /** Whether its disk is full: what it writes is lost. */
  isFull = false
  /** Whether it breaks off instead of answering a start, though it has begun the session. */
  isMute = false
  /** Whether it never answers a start. */
  isDeaf = false
  /** Whether it is killed when it is asked for a session. */
  isFrail = false
  readonly #script: InstanceScript
  readonly #server: Server
  readonly #watchers = new Set<ServerResponse>()
  #exit: (exit: InstanceExit) => void = () => {}
  #isGone = false
  #isStopped = false
  #mostSessions = 0

  constructor(folder: string, spec: InstanceSpec, script: InstanceScript) {
    this.id = spec.settings.instanceId
    this.spec = spec
    this.socketPath = join(folder, 's')
    this.journalFolder = join(folder, 'journal')
    this.outputPath = join(folder, 'output.log')
    this.#script = script
    this.#server = createServer((request, response) => void this.#serve(request, response))
    this.exited = new Promise((resolve) => {
      this.#exit = resolve
    })
  }

  /** The most sessions that it ever had at once. */
  get mostSessions(): number {
    return this.#mostSessions
  }

  get isGone(): boolean {
    return this.#isGone
  }

  /** Whether it was told to end. */
  get isStopped(): boolean {
    return this.#isStopped
  }

  begin(): void {
    mkdirSync(this.journalFolder, { recursive: true })
    const { fails, waits } = this.#script
    if (fails) {
      appendFileSync(this.outputPath, fails.output)
      this.crash({ code: fails.code })
    } else if (!waits) this.becomeReady()
  }

  becomeReady(): void {
    this.#server.listen(this.socketPath)
  }

  /** Ends without a word to anybody. */
  crash({ code = null, signal = null, outOfMemory = false }: Partial<InstanceExit> = {}): void {
    if (this.#isGone) return
    this.#isGone = true
    this.#server.close()
    this.#server.closeAllConnections()
    this.#exit({ code, signal, outOfMemory })
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    if (this.#script.lingers) return
    for (const id of this.sessions.keys()) this.endSession(id, 'shutdown')
    this.crash({ code: 0 })
  }

  say(msg: string, sessionId?: string): void {
    const line = { time: new Date().toISOString(), level: 'info', msg, ...(sessionId && { sessionId }) }
    this.write({ type: 'log', line })
  }

  connectSession(id: string): void {
    const view = this.sessions.get(id)
    if (!view) throw new Error(`no session ${id}`)
    this.sessions.set(id, { ...view, state: 'active', connectedAt: new Date().toISOString() })
    this.write({ type: 'session', session: this.sessions.get(id) })
  }

  endSession(id: string, cause: EndCause = 'client_left'): SessionView {
    const view = this.sessions.get(id)
    if (!view) throw new Error(`no session ${id}`)
    this.sessions.delete(id)
    const outcome = outcomeOf(cause, `because of ${cause}`)
    const session = { ...view, state: 'ended' as const, endedAt: new Date().toISOString(), outcome }
    this.ended.set(id, session)
    this.write({ type: 'session', session })
    return session
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const send = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    const [, id = ''] = /^\/sessions\/([\w-]+)$/.exec(request.url ?? '') ?? []
    if (request.method === 'GET' && id !== '' && this.isFrail) this.crash({ signal: 'SIGKILL' })
    else if (request.url === '/instance') {
      send(200, { instanceId: this.id, pid: 0, sessions: [...this.sessions.values()] })
    } else if (request.url === '/instance/events') {
      response.writeHead(200).write('\n')
      this.#watchers.add(response)
      response.on('close', () => this.#watchers.delete(response))
    } else if (request.method === 'POST' && request.url === '/start') await this.#start(request, send)
    else if (request.method === 'DELETE' && this.sessions.has(id)) send(200, this.endSession(id, 'stopped'))
    else if (request.method === 'GET' && this.ended.has(id)) send(200, this.ended.get(id))
    else send(404, { error: 'not here', code: 'not_found', info: '' })
  }

  async #start(request: IncomingMessage, send: (status: number, body: unknown) => void): Promise<void> {
    if (this.isDeaf) return
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const { transport } = JSON.parse(Buffer.concat(chunks).toString()) as { transport: 'webrtc' }
    const sessionId = String(request.headers[SESSION_ID_HEADER])
    const { refuses } = this.#script
    if (refuses !== undefined) {
      send(refuses, { error: 'as the script says', code: 'x', info: '' })
      return
    }
    this.sessions.set(sessionId, {
      ...{ sessionId, transport, state: 'waiting', createdAt: new Date().toISOString() },
    })
    this.#mostSessions = Math.max(this.#mostSessions, this.sessions.size)
    this.write({ type: 'session', session: this.sessions.get(sessionId) })
    if (this.isMute) request.socket.destroy()
    else send(200, { sessionId })
  }

  /** Writes into its journal whatever it is given. */
  write(record: unknown): void {
    const path = join(this.journalFolder, journalFile(1))
    if (!this.isFull) appendFileSync(path, `${JSON.stringify(record)}\n`)
    for (const watcher of this.#watchers) watcher.write('\n')
  }
}

/** An engine whose instances are inside of the test. They outlive the cloud that started them, as real ones do. */
export class ScriptedEngine implements Engine {
  readonly description = 'scripted'
  /** How the instances of an image behave; by default, well. */
  readonly scripts = new Map<string, InstanceScript>()
  readonly refusals = new Map<string, string>()
  /** All that were ever started. */
  readonly started: ScriptedInstance[] = []
  /** The images that are being fetched. */
  readonly fetching: string[] = []
  readonly #folder: string

  private constructor(folder: string) {
    this.#folder = folder
  }

  static async open(): Promise<ScriptedEngine> {
    return new ScriptedEngine(await mkdtemp(join(tmpdir(), 'eng-')))
  }

  /** Those that run. */
  get running(): readonly ScriptedInstance[] {
    return this.started.filter(({ isGone }) => !isGone)
  }

  async refusal(artifact: InstanceSpec['artifact']): Promise<string | undefined> {
    return this.refusals.get(nameOf(artifact))
  }

  async start(spec: InstanceSpec, unwanted?: AbortSignal): Promise<Instance> {
    const script = this.scripts.get(nameOf(spec.artifact)) ?? {}
    if (script.fetches) await this.#fetch(nameOf(spec.artifact), unwanted)
    const instance = new ScriptedInstance(join(this.#folder, String(this.started.length)), spec, script)
    this.started.push(instance)
    instance.begin()
    return instance
  }

  async find(id: string): Promise<Instance | undefined> {
    return this.started.find((instance) => instance.id === id)
  }

  async list(): Promise<readonly string[]> {
    return this.started.map(({ id }) => id)
  }

  async remove(): Promise<void> {}

  async close(): Promise<void> {}

  async #fetch(name: string, unwanted: AbortSignal | undefined): Promise<void> {
    this.fetching.push(name)
    await new Promise((resolve) => unwanted?.addEventListener('abort', resolve, { once: true }))
    this.fetching.splice(this.fetching.indexOf(name), 1)
    throw new Error(`${name} was not fetched`)
  }

  /** Ends everything that was started. */
  async end(): Promise<void> {
    for (const instance of this.running) instance.crash()
    await removeFolder(this.#folder)
  }
}

function nameOf(artifact: InstanceSpec['artifact']): string {
  return artifact.kind === 'image' ? artifact.name : artifact.folder
}
