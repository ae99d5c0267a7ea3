import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import type { UploadUrlResponse } from '@botcli/protocol/cloud'
import { afterEach, expect, it } from 'vitest'
import { CloudFixture, packed, until } from '../../testing/cloud-fixture.ts'

let cloud: CloudFixture
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await cloud.close()
})

const files = { Dockerfile: 'RUN echo from afar\n' }
const kept = () => readdirSync(join(cloud.folder, 'uploads'))

/** The bytes of an upload as they go over the wire, and a connection for them. */
async function opened({ uploadUrl, uploadFields }: UploadUrlResponse, content: Uint8Array) {
  const { hostname, port, pathname, host } = new URL(uploadUrl)
  const form = new FormData()
  for (const [name, value] of Object.entries(uploadFields)) form.append(name, value)
  form.append('file', new Blob([new Uint8Array(content)]), 'context.tar.gz')
  const request = new Response(form)
  const type = request.headers.get('content-type')
  const body = Buffer.from(await request.arrayBuffer())
  const head = `POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n`
  const socket = connect(Number(port), hostname)
  sockets.push(socket)
  let answer = ''
  socket.on('data', (chunk) => {
    answer += chunk.toString()
  })
  socket.on('error', () => {})
  await once(socket, 'connect')
  return { socket, bytes: Buffer.concat([Buffer.from(head), body]), answer: () => answer }
}

it('takes an upload that comes in very small pieces', async () => {
  cloud = await CloudFixture.start()
  const place = await cloud.uploadPlace()
  const { socket, bytes, answer } = await opened(place, await packed(files))
  socket.setNoDelay(true)
  for (let at = 0; at < bytes.length; at += 7) {
    socket.write(bytes.subarray(at, at + 7))
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await until(() => answer().startsWith('HTTP/1.1 204'), 'the answer')
  const { body } = await cloud.send('POST', '/v1/builds', { uploadId: place.uploadId, region: 'local' })
  const { build } = body as { build: { id: string } }
  expect(await cloud.ended(build.id)).toMatchObject({ status: 'success' })
})

it('says why a place is not free while somebody is writing to it, and frees it when they stop', async () => {
  cloud = await CloudFixture.start({ idleMs: 3000 })
  const place = await cloud.uploadPlace()
  const { socket, bytes } = await opened(place, Buffer.alloc(300_000, 7))
  socket.write(bytes.subarray(0, 200_000))
  await until(() => kept().some((name) => name.endsWith('.part')), 'it to begin')
  expect(await cloud.sendForm(place, await packed(files))).toMatchObject({
    status: 409,
    body: { code: 'CONFLICT', error: expect.stringContaining('being written to already') },
  })
  // It sends nothing more, and is let go.
  await until(() => socket.closed, 'the connection to be closed')
  await until(() => kept().length === 0, 'what it has sent to be removed')
  await until(
    async () => (await cloud.sendForm(place, await packed(files)).catch(() => undefined))?.status === 204,
    'the place to be free',
  )
  expect(kept()).toEqual([place.uploadId])
  // Clients that go are no faults of ours.
  expect(cloud.told.filter((line) => line.includes('"level":"error"'))).toEqual([])
})

it('lets go of clients that stop anywhere, and keeps nothing of them', async () => {
  cloud = await CloudFixture.start()
  const place = await cloud.uploadPlace()
  const content = Buffer.alloc(50_000, 7)
  const { bytes: whole } = await opened(place, content)
  for (const part of [10, 150, 400, 700, 20_000, whole.length - 100]) {
    const { socket, bytes } = await opened(place, content)
    socket.end(bytes.subarray(0, part))
    await until(() => socket.closed, 'the connection to be closed')
  }
  await until(() => kept().length === 0, 'nothing to be left')
  const send = async () => (await cloud.sendForm(place, await packed(files))).status
  await until(async () => (await send()) === 204, 'the place to be free')
  expect(cloud.told.filter((line) => line.includes('"level":"error"'))).toEqual([])
})
