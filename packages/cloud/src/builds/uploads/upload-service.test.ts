import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { FileBlobStore } from '../../blobs/file-blob-store.ts'
import { CloudFixture, packed } from '../../testing/cloud-fixture.ts'

let cloud: CloudFixture
let now = Date.now()
const MINUTE = 60_000
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  now = Date.now()
  cloud = await CloudFixture.start({ clock: () => now })
})
afterEach(async () => {
  vi.useRealTimers()
  await cloud.close()
})
const blobs = () => readdirSync(join(cloud.folder, 'uploads'))

it('gives places that live 15 minutes', async () => {
  const context = await packed({ Dockerfile: 'RUN true\n' })
  const [used, late] = [await cloud.uploadPlace(), await cloud.uploadPlace()]
  expect(Date.parse(used.expiresAt)).toBe(now + 15 * MINUTE)
  expect((await cloud.sendForm(used, context)).status).toBe(204)
  now += 15 * MINUTE
  expect(await cloud.sendForm(late, context)).toMatchObject({
    status: 400,
    body: { code: 'INVALID_REQUEST' },
  })
  const request = { uploadId: used.uploadId, region: 'local' }
  expect(await cloud.send('POST', '/v1/builds', request)).toMatchObject({
    status: 404,
    body: { error: expect.stringContaining('15 minutes') },
  })
})

it('removes what was uploaded when its time is over', async () => {
  const uploadId = await cloud.upload({ Dockerfile: 'RUN true\n' })
  expect(blobs()).toEqual([uploadId])
  vi.advanceTimersByTime(MINUTE)
  expect(blobs()).toEqual([uploadId])
  now += 21 * MINUTE
  vi.advanceTimersByTime(MINUTE)
  await vi.waitUntil(() => blobs().length === 0)
})

it('takes several builds of one upload while it lives', async () => {
  const uploadId = await cloud.upload({ Dockerfile: 'RUN true\n' })
  for (const noCache of [false, true]) {
    const { status, body } = await cloud.send('POST', '/v1/builds', { uploadId, region: 'local', noCache })
    expect(status).toBe(201)
    await cloud.ended((body as { build: { id: string } }).build.id)
  }
})

it('keeps a blob whole or not at all', async () => {
  const folder = join(cloud.folder, 'other')
  const store = await FileBlobStore.open(folder)
  const broken = Readable.from(
    (async function* () {
      yield Buffer.from('half')
      throw new Error('cut')
    })(),
  )
  await expect(store.put('a', broken, 100)).rejects.toThrow('cut')
  await expect(store.put('a', Readable.from([Buffer.alloc(101)]), 100)).rejects.toMatchObject({
    code: 'PAYLOAD_TOO_LARGE',
  })
  expect(readdirSync(folder)).toEqual([])
  expect(await store.get('a')).toBeUndefined()
  expect(await store.size('a')).toBeUndefined()
  expect(await store.put('a', Readable.from([Buffer.alloc(100)]), 100)).toEqual({ size: 100 })
  expect(await store.size('a')).toBe(100)
  await expect(store.get('../cloud.db')).rejects.toThrow()
  // What a killed process has left.
  writeFileSync(join(folder, 'x.part'), 'half')
  await FileBlobStore.open(folder)
  expect(readdirSync(folder)).toEqual(['a'])
  await store.remove('a')
  expect(readdirSync(folder)).toEqual([])
})

it('is not confused by clients that break off', async () => {
  const place = await cloud.uploadPlace()
  const abort = new AbortController()
  const form = new FormData()
  for (const [name, value] of Object.entries(place.uploadFields)) form.append(name, value)
  const head = new Response(form)
  const type = head.headers.get('content-type') ?? ''
  const text = (await head.text()).replace(
    /--\r\n$/,
    '\r\nContent-Disposition: form-data; name="file"\r\n\r\n',
  )
  const body = new ReadableStream({
    async pull(controller) {
      controller.enqueue(new TextEncoder().encode(text))
      controller.enqueue(new Uint8Array(100_000))
      await new Promise((resolve) => setTimeout(resolve, 100))
      abort.abort()
    },
  })
  const init = {
    method: 'POST',
    body,
    duplex: 'half',
    signal: abort.signal,
    headers: { 'content-type': type },
  }
  await expect(fetch(place.uploadUrl, init as RequestInit)).rejects.toThrow()
  await vi.waitUntil(() => blobs().length === 0)
  // The place is as good as before.
  const sent = await vi.waitUntil(async () => {
    const { status } = await cloud.sendForm(place, await packed({ Dockerfile: 'RUN true\n' }))
    return status === 204
  })
  expect(sent).toBe(true)
})
