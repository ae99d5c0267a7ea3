import type { CloudClient } from '../remote/cloud-client.ts'
import type { Desk } from '../remote/desk.ts'
import { realWait, withRetries } from '../remote/retry.ts'
import { upload } from '../remote/upload.ts'
import type { BuildContext } from './context/context.ts'
import { type PackedContext, packContext } from './context/pack.ts'
import type { CreationReport } from './creation-report.ts'
import { Progress } from './progress.ts'

/** To pack more than this takes long. */
const LONG_BYTES = 64 * 1024 * 1024

/** Packs a context and uploads it, and shows how far it is. */
export class ContextSending {
  readonly #desk: Desk
  readonly #report: CreationReport

  constructor(desk: Desk, report: CreationReport) {
    this.#desk = desk
    this.#report = report
  }

  /** Gives the id of the upload. Nothing is left on disk. */
  async send(client: CloudClient, context: BuildContext, region: string): Promise<string> {
    const packed = await this.#pack(context)
    try {
      // A place takes one upload, so that each try gets one of its own.
      return await withRetries(
        () => this.#upload(client, packed, region),
        realWait,
        this.#desk.signal,
        ({ message }) => this.#report.note(`${message} Trying again.`),
      )
    } finally {
      await packed.close()
    }
  }

  async #pack(context: BuildContext): Promise<PackedContext> {
    const { io, json, signal } = this.#desk
    // Where there is no terminal, lines are for those who wait for long.
    const isShown = !json && (io.stderr.isTTY === true || context.bytes > LONG_BYTES)
    const progress = new Progress('Packed', io.stderr, context.bytes)
    try {
      return await packContext(context, signal, (bytes) => isShown && progress.update(bytes))
    } finally {
      progress.close()
    }
  }

  async #upload(client: CloudClient, packed: PackedContext, region: string): Promise<string> {
    const { io, json, signal } = this.#desk
    const place = await client.createUpload(region)
    const progress = new Progress('Uploaded', io.stderr, packed.bytes)
    try {
      await upload({
        url: new URL(place.uploadUrl, `${client.url}/`).href,
        fields: place.uploadFields,
        file: packed,
        signal,
        onProgress: (bytes) => {
          if (!json) progress.update(bytes)
        },
      })
    } finally {
      progress.close()
    }
    this.#report.uploaded(packed.bytes)
    return place.uploadId
  }
}
