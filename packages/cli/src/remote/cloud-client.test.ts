import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { CloudDouble, DOUBLE_KEY } from '../testing/cloud-double.ts'
import { CloudClient } from './cloud-client.ts'
import { CloudHttp } from './http.ts'
import { backOff } from './retry.ts'

/** Makes nothing of what a call gives. */
function hush(_: unknown): undefined {}

const ANY = { safeParse: (data: unknown) => ({ success: true, data }) as const }

/** A client that waits for nothing, and keeps what it would have waited for. */
async function connected(key = DOUBLE_KEY) {
  const cloud = await CloudDouble.start()
  const waits: number[] = []
  const wait = async (ms: number) => void waits.push(ms)
  return {
    cloud,
    waits,
    client: new CloudClient({ url: cloud.url, key, wait }),
    http: new CloudHttp({ url: cloud.url, key, wait }),
  }
}

describe('answers', () => {
  it('may have fields that nobody knew of', async () => {
    const { cloud, client } = await connected()
    const { record } = cloud.addBuild()
    cloud.intercept = () => [200, { build: { ...record, agent: { deep: 1 } }, more: true }]
    expect(await client.getBuild(record.id)).toEqual(record)
  })

  it.each([
    [{ build: { status: 'new' } }, /build\.\w+: /],
    [{}, /build: /],
    [[], /does not understand/],
  ])('%j are not understood, which is told', async (body, message) => {
    const { cloud, client } = await connected()
    cloud.intercept = () => [200, body]
    await expect(client.getBuild('x')).rejects.toMatchObject({
      code: 'ANSWER_INVALID',
      message: expect.stringMatching(message),
    })
  })

  it('of something that is no cloud are told', async () => {
    const { cloud, client } = await connected()
    cloud.intercept = (_, response) => hush(response.end('<html>'))
    await expect(client.properties()).rejects.toThrow('did not answer with JSON. Is it a botcli cloud?')
    cloud.intercept = (_, response) => hush(response.writeHead(404).end('<html>'))
    await expect(client.properties()).rejects.toThrow('answered 404: <html>')
    cloud.intercept = (_, response) => hush(response.writeHead(301, { location: 'https://x/' }).end())
    await expect(client.properties()).rejects.toThrow('leads on to https://x/')
  })

  it('that refuse have the code and the message of the API', async () => {
    const { client } = await connected('sk_wrong_0123456789')
    const error = {
      name: 'RemoteError',
      code: 'UNAUTHORIZED',
      status: 401,
      message: 'The key is missing or unknown.',
    }
    await expect(client.listKeys()).rejects.toMatchObject(error)
  })
})

describe('what fails for a while', () => {
  it.each([429, 502, 503, 504])('is read again after %s', async (status) => {
    const { cloud, client, waits } = await connected()
    let count = 0
    cloud.intercept = () => {
      count += 1
      return count < 3 ? [status, { error: 'busy', code: 'UNAVAILABLE' }] : undefined
    }
    expect(await client.properties()).toEqual({ defaultRegion: 'local' })
    expect(waits).toHaveLength(2)
  })

  it('is read again after a connection that broke, but not for ever', async () => {
    const { cloud, client, waits } = await connected()
    cloud.intercept = (request) => hush(request.socket.destroy())
    await expect(client.properties()).rejects.toMatchObject({ code: 'UNREACHABLE', status: undefined })
    expect(waits).toHaveLength(3)
  })

  it.each([400, 401, 404, 500])('but %s is told at once', async (status) => {
    const { cloud, client, waits } = await connected()
    cloud.intercept = () => [status, { error: 'no', code: 'X' }]
    await expect(client.properties()).rejects.toMatchObject({ code: 'X', status })
    expect(waits).toEqual([])
  })

  it('is not written again', async () => {
    const { cloud, client } = await connected()
    cloud.intercept = () => [503, { error: 'busy', code: 'UNAVAILABLE' }]
    await expect(client.createKey({ name: 'x', family: 'private' })).rejects.toMatchObject({ status: 503 })
    await expect(client.deleteBuild('x')).rejects.toMatchObject({ status: 503 })
    expect(cloud.seen).toHaveLength(2)
  })

  it('is waited for as long as the cloud says, within reason', async () => {
    const { cloud, client, waits } = await connected()
    const after = ['2', '9999', 'soon']
    cloud.intercept = (_, response) => {
      const value = after.shift()
      if (value !== undefined)
        response.writeHead(429, { 'retry-after': value }).end('{"error":"x","code":"RATE_LIMITED"}')
      return undefined
    }
    await client.properties()
    expect(waits.slice(0, 2)).toEqual([2000, 10_000])
    expect(waits).toHaveLength(3)
  })
})

it('says when nobody answers, and when nobody is there', async () => {
  const { cloud, http } = await connected()
  cloud.intercept = () => new Promise(() => {})
  const asked = { method: 'POST', path: '/x', limitMs: 50 } as const
  await expect(http.json(asked, ANY)).rejects.toMatchObject({
    code: 'TIMED_OUT',
    message: /within 0\.05 seconds/,
  })
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  const nobody = new CloudClient({ url: `http://127.0.0.1:${port}`, key: DOUBLE_KEY, wait: async () => {} })
  await expect(nobody.properties()).rejects.toThrow(
    /cannot be reached \(ECONNREFUSED\)\. Is it running\? "botcli cloud"/,
  )
})

it('stops when it is told to', async () => {
  const cloud = await CloudDouble.start()
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const client = new CloudClient({ url: cloud.url, key: DOUBLE_KEY, signal: stop.signal })
  cloud.intercept = () => {
    stop.abort()
    return new Promise(() => {})
  }
  await expect(client.properties()).rejects.toMatchObject({ name: 'AbortError' })
  expect(cloud.seen).toHaveLength(1)
})

it.each(['', '/', '/v1', '/v1/'])('takes an address that ends in %j', async (end) => {
  const cloud = await CloudDouble.start()
  const client = new CloudClient({ url: `${cloud.url}${end}`, key: DOUBLE_KEY })
  expect(await client.properties()).toEqual({ defaultRegion: 'local' })
  expect(client.url).toBe(cloud.url)
})

it('waits longer each time, up to a limit', () => {
  const waits = [0, 1, 2, 3, 50].map((tries) => backOff(tries, () => 1))
  expect(waits).toEqual([250, 500, 1000, 2000, 10_000])
  expect(backOff(0, () => 0)).toBe(125)
})
