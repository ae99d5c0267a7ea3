import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeFolder, removeStale, runName } from '../bot-source/run-folder.ts'
import { RunnerError } from '../errors.ts'

const PREFIX = 'botcli-link-'
/** The path of a local socket must fit into 104 bytes on some systems. */
const MAX_PATH_BYTES = 100
/** How long somebody at the door may take to say who it is. */
const HEADER_MS = 5000
const MAX_HEADER_BYTES = 200
/** More strangers than this at the same time are no guests of ours. */
const MAX_STRANGERS = 256

const KINDS = ['stdout', 'stderr', 'link'] as const
type Kind = (typeof KINDS)[number]

/** The three streams of a guest that came through the door. */
export type GuestStreams = Readonly<Record<Kind, Socket>>

/** A guest that is expected. */
export interface Visit {
  readonly id: number
  /** Resolves when all of its streams are there. It never rejects. */
  readonly arrived: Promise<GuestStreams>
  /** Nobody waits for it any more. */
  cancel(): void
}

interface Expected {
  readonly streams: Partial<Record<Kind, Socket>>
  readonly arrive: (streams: GuestStreams) => void
}

/** A local socket in a private folder, at which guests that were forked elsewhere meet the runner. */
export class LinkDoor {
  readonly path: string
  readonly #folder: string
  readonly #server: Server
  readonly #strangers = new Set<Socket>()
  readonly #expected = new Map<number, Expected>()
  #lastId = 0

  private constructor(folder: string) {
    this.#folder = folder
    this.path = join(folder, 'link')
    this.#server = createServer((socket) => this.#onStranger(socket))
    // A connection that fails to be taken is noticed by whoever waits for it.
    this.#server.on('error', () => {})
  }

  /** Makes the folder, which only this user may enter, and listens. */
  static async open(root: string = tmpdir()): Promise<LinkDoor> {
    const name = runName(process.pid, PREFIX)
    const fits = Buffer.byteLength(join(root, name, 'link')) <= MAX_PATH_BYTES
    const parent = fits ? root : '/tmp'
    await removeStale(parent, PREFIX)
    const folder = join(parent, name)
    try {
      await mkdir(folder, { mode: 0o700 })
      const door = new LinkDoor(folder)
      door.#server.listen(door.path)
      await once(door.#server, 'listening')
      return door
    } catch (error) {
      await removeFolder(folder)
      const why = error instanceof Error ? error.message : String(error)
      throw new RunnerError(
        'start_failed',
        `The socket for the bots could not be made in ${parent}. Set TMPDIR to a folder that can be written, or use --python-start spawn.`,
        why,
        { cause: error },
      )
    }
  }

  /** Lets in one guest, under a number that it has to tell. */
  expect(): Visit {
    this.#lastId += 1
    const id = this.#lastId
    let arrive: (streams: GuestStreams) => void = () => {}
    const arrived = new Promise<GuestStreams>((resolve) => {
      arrive = resolve
    })
    const expected: Expected = { streams: {}, arrive }
    this.#expected.set(id, expected)
    return {
      id,
      arrived,
      cancel: () => {
        if (!this.#expected.delete(id)) return
        for (const socket of Object.values(expected.streams)) socket.destroy()
      },
    }
  }

  /** Lets nobody in any more. Guests that are in stay. */
  async close(): Promise<void> {
    // Not waited for: sockets that were handed to other processes count as open.
    this.#server.close()
    for (const socket of this.#strangers) socket.destroy()
    for (const { streams } of this.#expected.values()) {
      for (const socket of Object.values(streams)) socket.destroy()
    }
    this.#expected.clear()
    await removeFolder(this.#folder)
  }

  #onStranger(socket: Socket): void {
    socket.on('error', () => {})
    if (this.#strangers.size >= MAX_STRANGERS) {
      socket.destroy()
      return
    }
    this.#strangers.add(socket)
    const timer = setTimeout(() => socket.destroy(), HEADER_MS)
    const leave = (): void => {
      clearTimeout(timer)
      this.#strangers.delete(socket)
      socket.off('readable', read).off('close', leave)
    }
    let bytes: Buffer = Buffer.alloc(0)
    const read = (): void => {
      const chunk = socket.read() as Buffer | null
      if (chunk === null) return
      bytes = Buffer.concat([bytes, chunk])
      const end = bytes.indexOf('\n')
      if (end < 0 && bytes.length < MAX_HEADER_BYTES) return
      leave()
      // What follows belongs to whoever reads on.
      if (end + 1 < bytes.length) socket.unshift(bytes.subarray(end + 1))
      this.#admit(socket, parseHeader(bytes.subarray(0, Math.max(end, 0)).toString()))
    }
    socket.on('readable', read).on('close', leave)
  }

  #admit(socket: Socket, header: Header | undefined): void {
    const expected = header === undefined ? undefined : this.#expected.get(header.id)
    if (header === undefined || expected === undefined || expected.streams[header.kind] !== undefined) {
      socket.destroy()
      return
    }
    expected.streams[header.kind] = socket
    const { stdout, stderr, link } = expected.streams
    if (stdout === undefined || stderr === undefined || link === undefined) return
    this.#expected.delete(header.id)
    expected.arrive({ stdout, stderr, link })
  }
}

interface Header {
  readonly id: number
  readonly kind: Kind
}

function parseHeader(text: string): Header | undefined {
  try {
    const { id, kind } = JSON.parse(text) as { id?: unknown; kind?: unknown }
    const known = KINDS.find((one) => one === kind)
    return typeof id === 'number' && known !== undefined ? { id, kind: known } : undefined
  } catch {
    return undefined
  }
}
