import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import {
  type BuildFailure,
  type BuildRecord,
  type ContextEntry,
  contextManifest,
  isFinal,
  type KeyRecord,
} from '@botcli/protocol/cloud'
import { extract } from 'tar-stream'
import { onTestFinished } from 'vitest'
import { AgentsDouble, type Answer } from './agents-double.ts'

/** A key that opens every double. */
export const DOUBLE_KEY = 'sk_double_0123456789'
/** A key that starts sessions in every double. */
export const KNOWN_PUBLIC_KEY = 'pk_known_0123456789'

type Handler = (
  request: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
) => Answer | undefined | Promise<Answer>

/** A build of the double, whose log and end a test decides. */
export class DoubleBuild {
  record: BuildRecord
  readonly lines: string[] = []
  readonly followers = new Set<ServerResponse>()

  constructor(record: BuildRecord) {
    this.record = record
  }

  log(...lines: readonly string[]): void {
    for (const line of lines) {
      this.lines.push(line)
      const number = this.lines.length - 1
      for (const follower of this.followers) follower.write(eventOf(number, line))
    }
  }

  finish(status: BuildRecord['status'], failure: BuildFailure | null = null): void {
    const now = new Date().toISOString()
    const errorMessage = failure === null ? null : `It ended as ${failure.code}.`
    this.record = {
      ...this.record,
      status,
      failure,
      errorMessage,
      completedAt: now,
      buildDurationSeconds: 1.5,
    }
    if (status === 'success') this.record = { ...this.record, imageUri: 'bundle:x', imageSizeBytes: 2048 }
    for (const follower of this.followers) follower.end(endOf(this))
    this.followers.clear()
  }

  /** Cuts all who follow off, as a network does. */
  cut(): void {
    for (const follower of this.followers) follower.destroy()
    this.followers.clear()
  }
}

function eventOf(number: number, line: string): string {
  return `id: ${number}\ndata: ${JSON.stringify(line)}\n\n`
}

function endOf({ record: { status }, lines }: DoubleBuild): string {
  const sha256 = createHash('sha256')
    .update(lines.map((line) => `${line}\n`).join(''))
    .digest('hex')
  return `event: end\ndata: ${JSON.stringify({ status, lines: lines.length, sha256 })}\n\n`
}

/** A small cloud over real HTTP that keeps everything in memory and builds nothing. */
export class CloudDouble {
  readonly builds = new Map<string, DoubleBuild>()
  readonly sets = new Map<string, Map<string, string>>()
  readonly keys: KeyRecord[] = []
  /** Keys that were made, and have not been revoked, by their ids. */
  readonly made = new Map<string, string>()
  readonly agents = new AgentsDouble()
  /** Every request, as `METHOD path`. */
  readonly seen: string[] = []
  /** What was uploaded, by its id. */
  readonly uploads = new Map<string, Buffer>()
  /** Comes before everything else; what it answers is sent. */
  intercept: Handler | undefined
  onBuild: (build: DoubleBuild) => void = () => {}
  onCancel: (build: DoubleBuild) => void = (build) => {
    build.finish('failed', { code: 'cancelled', step: null, line: null, hint: 'Build it again.' })
  }
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
    this.addKey('the first key', DOUBLE_KEY)
  }

  /** Starts one that is gone after the test. */
  static async start(): Promise<CloudDouble> {
    const server = createServer()
    const double = new CloudDouble(server)
    server.on('request', (request, response) => void double.#serve(request, response))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    return double
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Variables that sign a command in. */
  get env(): Readonly<Record<string, string>> {
    return { BOTCLI_CLOUD_URL: this.url, BOTCLI_API_KEY: DOUBLE_KEY }
  }

  addKey(name: string, key: string): KeyRecord {
    const createdAt = new Date().toISOString()
    const family = key.startsWith('pk_') ? 'public' : 'private'
    const record: KeyRecord = {
      ...{ id: randomUUID(), name, family, prefix: key.slice(0, 12), createdAt },
      ...{ lastUsedAt: null, revokedAt: null },
    }
    this.keys.push(record)
    return record
  }

  addBuild(fields: Partial<BuildRecord> = {}): DoubleBuild {
    const now = new Date().toISOString()
    const build = new DoubleBuild({
      ...{ id: randomUUID(), organizationId: randomUUID(), status: 'building', region: 'local' },
      ...{
        contextHash: 'none',
        dockerfilePath: 'Dockerfile',
        imageUri: null,
        errorMessage: null,
        failure: null,
      },
      ...{ contextSizeBytes: 1, imageSizeBytes: null, buildDurationSeconds: null, startedAt: now },
      ...{ completedAt: null, createdAt: now, updatedAt: now },
      ...fields,
    })
    this.builds.set(build.record.id, build)
    return build
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = []
    try {
      for await (const part of request) parts.push(part as Buffer)
    } catch {
      return
    }
    const body = Buffer.concat(parts)
    this.seen.push(`${request.method} ${request.url}`)
    const answer =
      (await this.intercept?.(request, response, body)) ?? (await this.#answer(request, response, body))
    if (answer === undefined || response.headersSent || response.destroyed) return
    response.writeHead(answer[0], { 'content-type': 'application/json' }).end(JSON.stringify(answer[1]))
  }

  async #answer(
    request: IncomingMessage,
    response: ServerResponse,
    body: Buffer,
  ): Promise<Answer | undefined> {
    const { pathname, searchParams } = new URL(request.url ?? '', this.url)
    const [, first, second, third, fourth] = pathname.split('/')
    if (first === 'upload') return this.#upload(second ?? '', body)
    if (second === 'public') return this.#public(request, third ?? '', body)
    if (request.headers.authorization !== `Bearer ${DOUBLE_KEY}`) {
      return [401, { error: 'The key is missing or unknown.', code: 'UNAUTHORIZED' }]
    }
    const what = `${request.method} ${second}`
    if (what === 'POST builds' && third === 'upload-url') {
      const uploadId = randomUUID()
      const expiresAt = new Date(Date.now() + 900_000).toISOString()
      return [200, { uploadId, uploadUrl: `/upload/${uploadId}`, uploadFields: { token: 't"1' }, expiresAt }]
    }
    if (what === 'POST builds' && third === undefined) return this.#create(JSON.parse(body.toString()))
    if (what === 'GET builds' && third === undefined) return this.#list(searchParams)
    if (second === 'builds') return this.#build(request, response, third ?? '', fourth, searchParams)
    if (what === 'GET properties') return [200, { properties: { defaultRegion: 'local' } }]
    if (second === 'secrets') return this.#secrets(request.method, third, fourth, body)
    if (second === 'agents') {
      return this.agents.answer(request, response, body, new URL(request.url ?? '', this.url))
    }
    if (second === 'keys') return this.#keys(request.method, third, body)
    return [404, { error: 'There is no such route.', code: 'NOT_FOUND' }]
  }

  /** Public keys are those that were made here, and one that is known to all. */
  #public({ headers }: IncomingMessage, agent: string, body: Buffer): Answer {
    const key = headers.authorization?.replace('Bearer ', '') ?? ''
    if (key === KNOWN_PUBLIC_KEY || [...this.made.values()].includes(key)) {
      return this.agents.start(agent, key, body)
    }
    return [401, { error: 'The key is missing or unknown.', code: 'UNAUTHORIZED' }]
  }

  #upload(id: string, body: Buffer): Answer {
    const text = body.toString('latin1')
    const start = text.indexOf('\r\n\r\n', text.indexOf('name="file"')) + 4
    this.uploads.set(id, body.subarray(start, text.lastIndexOf('\r\n--')))
    return text.includes('name="token"\r\n\r\nt"1\r\n')
      ? [204, {}]
      : [403, { error: 'no token', code: 'FORBIDDEN' }]
  }

  async #create(asked: { uploadId: string; region: string; dockerfilePath: string }): Promise<Answer> {
    const archive = this.uploads.get(asked.uploadId)
    if (archive === undefined) return [400, { error: 'There is no such upload.', code: 'INVALID_REQUEST' }]
    const contextHash = await hashOf(archive)
    const { region, dockerfilePath } = asked
    const build = this.addBuild({ contextHash, region, dockerfilePath })
    setImmediate(() => this.onBuild(build))
    return [201, { build: build.record, contextHash, cached: false, newField: 1 }]
  }

  #list(query: URLSearchParams): Answer {
    const limit = Number(query.get('limit') ?? 20)
    const offset = Number(query.get('offset') ?? 0)
    const all = [...this.builds.values()]
      .map(({ record }) => record)
      .filter((one) =>
        (['status', 'region', 'contextHash', 'dockerfilePath'] as const).every(
          (name) => (query.get(name) ?? one[name]) === one[name],
        ),
      )
      .filter(({ status }) => query.get('reusable') === null || status === 'success')
    return [200, { builds: all.slice(offset, offset + limit), total: all.length, limit, offset }]
  }

  #build(
    request: IncomingMessage,
    response: ServerResponse,
    id: string,
    part: string | undefined,
    query: URLSearchParams,
  ): Answer | undefined {
    const build = this.builds.get(id)
    if (build === undefined) return [404, { error: `There is no build ${id}.`, code: 'NOT_FOUND' }]
    if (part === 'logs') return this.#logs(request, response, build, query)
    if (request.method === 'POST' && part === 'cancel') {
      const { status } = build.record
      if (isFinal(status)) return [409, { error: `Its status is ${status}.`, code: 'CONFLICT' }]
      this.onCancel(build)
      return [200, { build: build.record }]
    }
    if (request.method === 'DELETE') {
      if (isFinal(build.record.status)) this.builds.delete(id)
      else this.onCancel(build)
      return [200, { status: 'OK' }]
    }
    return [200, { build: build.record }]
  }

  #logs(
    { headers }: IncomingMessage,
    response: ServerResponse,
    build: DoubleBuild,
    query: URLSearchParams,
  ): Answer | undefined {
    const { lines, record } = build
    const limit = Number(query.get('limit') ?? 500)
    if (headers.accept !== 'text/event-stream') {
      const end = Number(query.get('nextToken') ?? lines.length)
      const first = Math.max(0, end - limit)
      return [200, { logs: lines.slice(first, end), ...(first > 0 && { nextToken: String(first) }) }]
    }
    const last = headers['last-event-id']
    const first = last === undefined ? Math.max(0, lines.length - limit) : Number(last) + 1
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(': hello\n\n')
    for (let number = first; number < lines.length; number += 1) {
      response.write(eventOf(number, lines[number] ?? ''))
    }
    if (isFinal(record.status)) response.end(endOf(build))
    else build.followers.add(response)
    response.on('close', () => build.followers.delete(response))
    return undefined
  }

  #secrets(
    method: string | undefined,
    name: string | undefined,
    key: string | undefined,
    body: Buffer,
  ): Answer {
    const set = this.sets.get(name ?? '')
    if (name === undefined) {
      const sets = [...this.sets.keys()].map((one) => ({
        name: one,
        type: 'secret',
        region: 'local',
        status: 'ready',
      }))
      return [200, { sets }]
    }
    if (method === 'PUT') {
      const asked = JSON.parse(body.toString()) as { secrets: { secretKey: string; secretValue: string }[] }
      const values = asked.secrets.map((one) => [one.secretKey, one.secretValue] as const)
      this.sets.set(name, new Map([...(set ?? []), ...values]))
      return [200, { status: 'OK', region: 'local' }]
    }
    if (set === undefined || (key !== undefined && !set.has(key))) {
      return [404, { error: `There is no ${key ?? name}.`, code: 'NOT_FOUND' }]
    }
    if (method === 'DELETE') {
      if (key === undefined) this.sets.delete(name)
      else set.delete(key)
      return [200, { status: 'OK' }]
    }
    const updatedAt = new Date().toISOString()
    return [
      200,
      {
        region: 'local',
        status: 'ready',
        secrets: [...set.keys()].map((fieldName) => ({ fieldName, updatedAt })),
      },
    ]
  }

  #keys(method: string | undefined, id: string | undefined, body: Buffer): Answer {
    if (method === 'POST') {
      const { name, family } = JSON.parse(body.toString()) as { name: string; family: string }
      const key = `${family === 'public' ? 'pk' : 'sk'}_${randomUUID()}`
      const record = this.addKey(name, key)
      this.made.set(record.id, key)
      return [201, { key, record }]
    }
    if (method === 'GET') return [200, { keys: this.keys }]
    const at = this.keys.findIndex((one) => one.id === id)
    const found = this.keys[at]
    if (found === undefined) return [404, { error: 'There is no such key.', code: 'NOT_FOUND' }]
    this.keys[at] = { ...found, revokedAt: new Date().toISOString() }
    this.made.delete(found.id)
    return [200, { status: 'OK' }]
  }
}

/** The canonical hash of what is in an archive, found the other way round than the command does. */
export async function hashOf(archive: Uint8Array): Promise<string> {
  const tar = extract()
  tar.end(gunzipSync(archive))
  const entries: ContextEntry[] = []
  for await (const entry of tar) {
    const parts: Uint8Array[] = []
    for await (const part of entry) parts.push(part as Uint8Array)
    const { name: path, type, mode, linkname } = entry.header
    const content = type === 'symlink' ? Buffer.from(linkname) : Buffer.concat(parts)
    const kind = type === 'symlink' ? 'link' : (mode & 0o111) === 0 ? 'file' : 'executable'
    entries.push({ path, kind, size: content.length, digest: sha256(content) })
  }
  return sha256(contextManifest(entries))
}

function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}
