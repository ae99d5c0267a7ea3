import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type {
  InstanceSettings,
  JournalLine,
  JournalRecord,
  SessionView,
  StartRequest,
} from '@botcli/protocol'
import { until } from '../../../runner/src/testing/runner-fixture.ts'
import { isListening } from '../../../runner/src/testing/unix-sockets.ts'

const BIN = resolve(import.meta.dirname, '../../bin/botcli.js')

/** What an instance answered. */
export interface InstanceReply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Readonly<Record<string, unknown>>
}

/** How an instance is started. */
export interface StartedInstanceOptions {
  readonly settings?: Partial<InstanceSettings>
  readonly options?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** The whole command, if it is not the runner's. */
  readonly command?: readonly [string, ...string[]]
  /** The user that it runs as. */
  readonly uid?: number
}

/** The real command as an instance, in a folder of its own, started and talked to as the cloud does. */
export class StartedInstance {
  readonly settings: InstanceSettings
  readonly folder: string
  readonly child: ChildProcess
  stdout = ''
  stderr = ''

  private constructor(folder: string, settings: InstanceSettings, child: ChildProcess) {
    this.folder = folder
    this.settings = settings
    this.child = child
    child.stdout?.on('data', (chunk) => {
      this.stdout += String(chunk)
    })
    child.stderr?.on('data', (chunk) => {
      this.stderr += String(chunk)
    })
  }

  static async start(bot: string, given: StartedInstanceOptions = {}): Promise<StartedInstance> {
    const folder = await mkdtemp(join(tmpdir(), 'botcli-i-'))
    // Another user has to get in, too.
    if (given.uid !== undefined) await chmod(folder, 0o777)
    const settings: InstanceSettings = {
      version: 1,
      instanceId: randomUUID(),
      agentName: 'agent',
      deploymentId: randomUUID(),
      region: 'local',
      socket: join(folder, 's'),
      journal: join(folder, 'journal'),
      maxSessions: 5,
      maxSessionSeconds: 300,
      maxMemoryBytes: 1024 ** 3,
      warm: 1,
      orphanSeconds: 600,
      stopSeconds: 10,
      ...given.settings,
    }
    const path = join(folder, 'settings.json')
    await writeFile(path, JSON.stringify(settings))
    const own = [process.execPath, BIN, 'run', bot, ...(given.options ?? [])] as const
    const [file, ...args] = given.command ?? own
    const child = spawn(file, args, {
      env: { ...process.env, ...given.env, BOTCLI_INSTANCE: path },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      ...(given.uid !== undefined && { uid: given.uid, gid: given.uid }),
    })
    return new StartedInstance(folder, settings, child)
  }

  get pid(): number {
    return this.child.pid ?? 0
  }

  /** Waits until it listens. */
  async ready(): Promise<this> {
    await until(() => {
      if (this.child.exitCode !== null) throw new Error(`it ended: ${this.stderr}`)
      return isListening(this.settings.socket)
    }, 'the socket of the instance')
    return this
  }

  /** Asks over its socket; the answer's body is not read. */
  open(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    return new Promise<IncomingMessage>((resolve, reject) => {
      const asked = request({ socketPath: this.settings.socket, method, path, headers }, resolve)
      asked.on('error', reject)
      asked.end(body === undefined ? undefined : JSON.stringify(body))
    })
  }

  async ask(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<InstanceReply> {
    const answer = await this.open(method, path, body, headers)
    const chunks: Buffer[] = []
    for await (const chunk of answer) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    return { status: answer.statusCode ?? 0, headers: answer.headers, body: text && JSON.parse(text) }
  }

  /** Starts a session under an id, as the cloud does. */
  async start(request: Partial<StartRequest>, sessionId: string = randomUUID()): Promise<string> {
    const reply = await this.ask('POST', '/start', request, { 'x-botcli-session-id': sessionId })
    if (reply.status !== 200) throw new Error(JSON.stringify(reply.body))
    return sessionId
  }

  /** The address of a WebSocket. */
  websocketUrl(path: string): string {
    return `ws+unix:${this.settings.socket}:${path}`
  }

  /** Every whole record of its journal. */
  records(): readonly JournalRecord[] {
    return this.journalFiles().flatMap((name) =>
      readFileSync(join(this.settings.journal, name), 'utf8')
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as JournalRecord),
    )
  }

  journalFiles(): readonly string[] {
    return existsSync(this.settings.journal) ? readdirSync(this.settings.journal).sort() : []
  }

  /** What was written of a session. */
  views(sessionId: string): readonly SessionView[] {
    return this.records()
      .flatMap((record) => (record.type === 'session' ? [record.session] : []))
      .filter((session) => session.sessionId === sessionId)
  }

  lines(): readonly JournalLine[] {
    return this.records().flatMap((record) => (record.type === 'log' ? [record.line] : []))
  }

  /** The last that was written of a session, once it is over. */
  async over(sessionId: string): Promise<SessionView> {
    return until(
      () => this.views(sessionId).find(({ state }) => state === 'ended'),
      `the end of ${sessionId} in the journal`,
    )
  }

  async exitCode(): Promise<number | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'exit')
    return this.child.exitCode
  }

  /** Ends it, however far it is, and removes its folder. */
  async close(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      this.child.kill('SIGTERM')
      await this.exitCode()
    }
    await rm(this.folder, { recursive: true, force: true })
  }
}
