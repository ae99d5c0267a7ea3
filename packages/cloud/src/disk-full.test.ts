import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BuildRecord, isFinal } from '@botcli/protocol/cloud'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { errorAnswerOf } from './api/error-answer.ts'
import { isDiskFull } from './disk-full.ts'
import { packed, until } from './testing/cloud-fixture.ts'
import { buildCloudProcess, KillableCloud } from './testing/killable-cloud.ts'

const MIB = 1024 * 1024
const FULL = { code: 'UNAVAILABLE', error: expect.stringContaining("cloud's disk is full") }

/** Whether this user may mount a small file system that nobody else sees. */
const canMount = (() => {
  try {
    execFileSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()

it.each(['ENOSPC', 'EDQUOT', 'EFBIG', 'SQLITE_FULL', 'SQLITE_IOERR_WRITE'])(
  '%s is told as a full disk',
  (code) => {
    const log = { info: () => {}, warn: () => {}, error: () => {} }
    const error = new Error('deep down', { cause: Object.assign(new Error('no'), { code }) })
    expect(errorAnswerOf(error, log, 'x')).toMatchObject({ status: 503, body: FULL })
    expect(isDiskFull(Object.assign(new Error('no'), { code: 'ENOENT' }))).toBe(false)
  },
)

describe('a cloud that can write no more', () => {
  let program: string
  let folder: string
  let cloud: KillableCloud
  beforeAll(() => {
    program = buildCloudProcess()
  })
  afterAll(() => rmSync(program))
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'botcli-full-'))
  })
  afterEach(async () => {
    await cloud.kill()
    rmSync(folder, { recursive: true, force: true })
  })

  const call = async (path: string, init: RequestInit = {}): Promise<{ status: number; body: unknown }> => {
    const authorization = `Bearer ${cloud.keys?.privateKey}`
    const response = await fetch(`${cloud.url}${path}`, { ...init, headers: { authorization } })
    return { status: response.status, body: await response.json() }
  }
  const post = (path: string, body: unknown) => call(path, { method: 'POST', body: JSON.stringify(body) })
  interface Place {
    readonly uploadId: string
    readonly uploadUrl: string
    readonly uploadFields: Readonly<Record<string, string>>
  }
  const place = async () => (await post('/v1/builds/upload-url', { region: 'local' })).body as Place
  const send = async ({ uploadUrl, uploadFields }: Place, content: Uint8Array) => {
    const form = new FormData()
    for (const [name, value] of Object.entries(uploadFields)) form.append(name, value)
    form.append('file', new Blob([new Uint8Array(content)]))
    // A refusal comes before everything was sent, and a client that notices the end first never sees it.
    const response = await until(
      () => fetch(uploadUrl, { method: 'POST', body: form }).catch(() => undefined),
      'an answer to the upload',
    )
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) }
  }
  const create = async (Dockerfile: string): Promise<string> => {
    const made = await place()
    expect((await send(made, await packed({ Dockerfile }))).status).toBe(204)
    const { body } = await post('/v1/builds', { uploadId: made.uploadId, region: 'local', noCache: true })
    return (body as { build: BuildRecord }).build.id
  }
  const record = async (id: string) => ((await call(`/v1/builds/${id}`)).body as { build: BuildRecord }).build
  const ended = (id: string) =>
    until(async () => {
      const build = await record(id)
      return isFinal(build.status) && build
    }, 'the build to end')
  const logs = async (id: string) =>
    ((await call(`/v1/builds/${id}/logs?limit=10000`)).body as { logs: string[] }).logs

  it('refuses a file over its limit of sizes with 503, and keeps nothing of it', async () => {
    cloud = await KillableCloud.start(program, folder, { before: `ulimit -f ${(16 * MIB) / 512}` })
    const made = await place()
    expect(await send(made, Buffer.alloc(20 * MIB))).toEqual({ status: 503, body: FULL })
    expect(readdirSync(join(folder, 'uploads'))).toEqual([])
    // The place is as good as before.
    expect((await send(made, await packed({ Dockerfile: 'RUN true\n' }))).status).toBe(204)
  })

  describe.skipIf(!canMount)('because its disk is full (this needs the right to mount)', () => {
    const SIZE = 16 * MIB
    /** The small disk as it is seen from outside of its namespace. */
    let disk: string
    beforeEach(async () => {
      const before = `mount -t tmpfs -o size=${SIZE} tmpfs '${folder}'`
      cloud = await KillableCloud.start(program, folder, { before, wrapper: ['unshare', '-m'] })
      disk = join(`/proc/${cloud.pid}/root`, folder)
    })
    const fill = () => {
      for (const size of [MIB, 4096, 1]) {
        for (let count = 0; count < 5000; count += 1) {
          try {
            writeFileSync(join(disk, `filler-${size}`), Buffer.alloc(size), { flag: 'a' })
          } catch {
            break
          }
        }
      }
    }
    const makeRoom = () => {
      for (const name of readdirSync(disk)) if (name.startsWith('filler-')) rmSync(join(disk, name))
    }

    it('answers 503 to what would write, still reads, and works on when there is room', async () => {
      const early = await create('RUN echo before\n')
      const done = await ended(early)
      const made = await place()
      fill()
      expect(await send(made, Buffer.alloc(MIB))).toEqual({ status: 503, body: FULL })
      expect(readdirSync(join(disk, 'uploads')).filter((name) => name.endsWith('.part'))).toEqual([])
      // The journal may have some room left of its own.
      const values = Array.from({ length: 16 }, (_, index) => ({
        ...{ secretKey: `A${index}`, secretValue: 'x'.repeat(60_000) },
      }))
      const put = await call('/v1/secrets/large', {
        method: 'PUT',
        body: JSON.stringify({ secrets: values }),
      })
      expect(put).toEqual({ status: 503, body: FULL })
      expect((await call('/v1/secrets/large')).status).toBe(404)
      expect(await record(early)).toEqual(done)
      expect(await logs(early)).toContain('before')
      expect((await call('/healthz')).status).toBe(200)
      makeRoom()
      const again = await create('RUN echo after\n')
      expect(await ended(again)).toMatchObject({ status: 'success' })
    })

    it('fails a build whose log cannot be written, once that can be noted', async () => {
      const id = await create(
        `RUN echo begun; while [ ! -e ${folder}/go ]; do sleep 0.05; done; seq 1 3000000; sleep 600\n`,
      )
      await until(async () => (await logs(id)).includes('begun'), 'the build to run')
      writeFileSync(join(disk, 'go'), '')
      await until(async () => {
        // What is given up on the way may make room for what comes after it, or may not.
        fill()
        return cloud.told.includes('could not be ended') || isFinal((await record(id)).status)
      }, 'the log to be full')
      expect(cloud.told).toContain('could not be written')
      makeRoom()
      const build = await ended(id)
      expect(build).toMatchObject({ status: 'failed', failure: { code: 'out_of_disk' } })
      const lines = await logs(id)
      expect(lines.slice(-2)).toEqual([`Failed: ${build.errorMessage}`, `Hint: ${build.failure?.hint}`])
      expect(lines.filter((line) => line.startsWith('Failed:'))).toHaveLength(1)
      expect(readdirSync(join(disk, 'work'))).toEqual([])
      expect(await ended(await create('RUN echo next\n'))).toMatchObject({ status: 'success' })
    })

    it('says so when it is started', async () => {
      await cloud.kill()
      const before = `mount -t tmpfs -o size=1m tmpfs '${folder}' && head -c 1000000 /dev/zero > '${folder}/filler'; cd '${folder}'; head -c 100000 /dev/zero > more; true`
      const start = KillableCloud.start(program, folder, { before, wrapper: ['unshare', '-m'] })
      await expect(start).rejects.toThrow(/disk is full/)
    })

    it('fails a build whose context does not fit', async () => {
      const made = await place()
      // Zeros are small when they are packed.
      const large = { Dockerfile: 'RUN true\n', zeros: Buffer.alloc(SIZE + MIB) }
      expect((await send(made, await packed(large))).status).toBe(204)
      const { body } = await post('/v1/builds', { uploadId: made.uploadId, region: 'local' })
      const { id } = (body as { build: BuildRecord }).build
      expect(await ended(id)).toMatchObject({ status: 'failed', failure: { code: 'out_of_disk' } })
      expect((await logs(id)).at(-2)).toBe("Failed: The cloud's disk is full.")
      expect(readdirSync(join(disk, 'work'))).toEqual([])
    })
  })
})
