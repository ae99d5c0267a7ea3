import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runName } from '../bot-source/run-folder.ts'
import { until } from '../testing/runner-fixture.ts'
import { LinkDoor } from './link-door.ts'

const KINDS = ['stdout', 'stderr', 'link']

describe('the door for forked guests', () => {
  let root: string
  let door: LinkDoor
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'd-'))
    door = await LinkDoor.open(root)
  })
  afterEach(async () => {
    await door.close()
    await rm(root, { recursive: true, force: true })
  })

  function knock(bytes: string): Socket {
    const socket = connect(door.path)
    socket.on('error', () => {})
    socket.write(bytes)
    return socket
  }
  const header = (id: unknown, kind: unknown) => `${JSON.stringify({ id, kind })}\n`

  /** Somebody who is not let in is cut off. */
  async function expectRefused(socket: Socket): Promise<void> {
    socket.resume()
    await until(() => socket.closed, 'the socket to be closed')
  }

  it('is for this user only', async () => {
    expect((await stat(dirname(door.path))).mode & 0o777).toBe(0o700)
  })

  it('brings the streams of a guest together, with what came right after the header', async () => {
    const visit = door.expect()
    for (const kind of KINDS) knock(`${header(visit.id, kind)}the ${kind}`).end()
    const streams = await visit.arrived
    expect(await text(streams.link)).toBe('the link')
    expect(await text(streams.stdout)).toBe('the stdout')
    expect(await text(streams.stderr)).toBe('the stderr')
  })

  it('takes a header that comes in pieces, and does not mix up guests', async () => {
    const visits = [door.expect(), door.expect()]
    for (const { id } of visits) {
      for (const kind of KINDS) {
        const line = header(id, kind)
        const socket = knock(line.slice(0, 9))
        setTimeout(() => socket.end(`${line.slice(9)}guest ${id}`), 20)
      }
    }
    for (const { id, arrived } of visits) expect(await text((await arrived).link)).toBe(`guest ${id}`)
  })

  it('turns away whoever is not expected, comes twice, or says nothing that makes sense', async () => {
    const { id } = door.expect()
    await expectRefused(knock(header(id + 1, 'link')))
    await expectRefused(knock(header(id, 'stdin')))
    await expectRefused(knock('hello\n'))
    await expectRefused(knock('null\n'))
    await expectRefused(knock('x'.repeat(300)))
    knock(header(id, 'link'))
    await expectRefused(knock(header(id, 'link')))
  })

  it('cuts off a guest for which nobody waits any more', async () => {
    const visit = door.expect()
    const early = knock(header(visit.id, 'link'))
    await new Promise((resolve) => early.once('connect', resolve))
    visit.cancel()
    await expectRefused(early)
    await expectRefused(knock(header(visit.id, 'stdout')))
  })

  it('leaves nothing behind, and takes away what killed runners left', async () => {
    await door.close()
    expect(existsSync(dirname(door.path))).toBe(false)
    await expectRefused(knock('x'))
    const left = join(root, runName(2 ** 30, 'botcli-link-'))
    await mkdir(left)
    const next = await LinkDoor.open(root)
    expect(existsSync(left)).toBe(false)
    expect(existsSync(next.path)).toBe(true)
    await next.close()
  })

  it('finds a shorter place when the path would be too long for a socket', async () => {
    const long = join(root, 'x'.repeat(90))
    const other = await LinkDoor.open(long)
    expect(other.path.startsWith('/tmp/')).toBe(true)
    await other.close()
  })
})
