import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Builder,
  type BuildInput,
  type BuildOutput,
  type BuildResult,
  type RunningCloud,
  startCloud,
} from '@botcli/cloud'
import { onTestFinished } from 'vitest'
import { folderWith } from './folder.ts'

/** Tells the lines of the build file; `SLEEP` lasts until it is cancelled, `PAUSE ms` waits, `FAIL text` fails. */
class LineBuilder implements Builder {
  readonly name = 'lines 1.0'

  async build(input: BuildInput, output: BuildOutput, signal: AbortSignal): Promise<BuildResult> {
    const lines = (await readFile(join(input.context, input.dockerfilePath), 'utf8')).trim().split('\n')
    for (const [index, line] of lines.entries()) {
      output.write(`${line}\n`)
      const [word, rest = ''] = line.split(' ', 2)
      if (word === 'SLEEP') await sleep(600_000, undefined, { signal })
      if (word === 'PAUSE') await sleep(Number(rest), undefined, { signal })
      if (word === 'FAIL') {
        const failure = { code: 'command_failed', step: line, line: index + 1, hint: 'Do not.' } as const
        return { ok: false, message: `${line} did not work.`, failure }
      }
    }
    return { ok: true, imageUri: `lines:${input.buildId}`, imageSizeBytes: 4096, bases: [] }
  }

  async cleanUp(): Promise<void> {}

  async isFresh(): Promise<boolean> {
    return true
  }

  async remove(): Promise<void> {}
}

/** A real cloud behind a line that can be cut. */
export class RealCloud {
  readonly #folder: string
  readonly #line: Server
  readonly #sockets = new Set<Socket>()
  #cloud: RunningCloud | undefined
  #key = ''

  private constructor(folder: string, line: Server) {
    this.#folder = folder
    this.#line = line
  }

  /** Starts one that is gone after the test. */
  static async start(): Promise<RealCloud> {
    const line = createServer()
    const cloud = new RealCloud(await folderWith({}), line)
    line.on('connection', (socket) => cloud.#join(socket))
    line.listen(0, '127.0.0.1')
    await once(line, 'listening')
    onTestFinished(() => cloud.#close())
    await cloud.open()
    return cloud
  }

  /** Variables that sign a command in. */
  get env(): Readonly<Record<string, string>> {
    const { port } = this.#line.address() as AddressInfo
    return { BOTCLI_CLOUD_URL: `http://127.0.0.1:${port}`, BOTCLI_API_KEY: this.#key }
  }

  async open(): Promise<void> {
    const nobody = { info: () => {}, warn: () => {}, error: () => {} }
    this.#cloud = await startCloud({
      dataFolder: join(this.#folder, 'data'),
      host: '127.0.0.1',
      port: 0,
      builders: [{ kind: 'native', probe: async () => new LineBuilder() }],
      log: nobody,
      version: '0.0.0',
    })
    this.#key = this.#cloud.firstKeys?.privateKey ?? this.#key
  }

  /** Cuts every connection, as a network does. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async restart(): Promise<void> {
    await this.#cloud?.close({ deadlineMs: 0 })
    await this.open()
  }

  #join(socket: Socket): void {
    const { port } = new URL(this.#cloud?.url ?? 'http://127.0.0.1:1')
    const other = connect(Number(port), '127.0.0.1')
    for (const [one, two] of [
      [socket, other],
      [other, socket],
    ] as const) {
      this.#sockets.add(one)
      one.on('error', () => {})
      one.on('close', () => {
        this.#sockets.delete(one)
        two.destroy()
      })
      one.pipe(two)
    }
  }

  async #close(): Promise<void> {
    this.cut()
    this.#line.close()
    await this.#cloud?.close({ deadlineMs: 0 })
  }
}
