import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { SegmentLogStore } from '../../packages/cloud/dist/logs/segment-log-store.js'
import { SqliteStore } from '../../packages/cloud/dist/store/sqlite-store.js'
import { lineOf } from './line.mjs'

/** What is kept of a log; the longest one here is shorter. */
export const LOG_BYTES = 8 * 1024 ** 3
const SUCCESS = {
  status: 'success',
  imageUri: 'none',
  imageSizeBytes: 0,
  errorMessage: null,
  failure: null,
  bases: [],
}

/** The logs in the data folder of a cloud that is not running. */
export class StoredLogs {
  #folder
  #logs

  /** @param {string} folder */
  constructor(folder) {
    this.#folder = folder
    this.#logs = new SegmentLogStore(join(folder, 'logs'), { maxBytes: LOG_BYTES })
  }

  /**
   * Writes the log of a build and seals it.
   * @param {number} lines
   * @returns {Promise<string>} its id
   */
  async fill(lines) {
    const id = randomUUID()
    await this.append(id, { lines, batch: 1000 })
    const writer = await this.#logs.openWriter(id)
    await writer.seal()
    return id
  }

  /**
   * Writes lines in batches, as fast as it can.
   * @param {string} id
   * @param {{ lines: number, batch: number }} options
   * @returns {Promise<number>} how many seconds it took until all of them were durable
   */
  async append(id, { lines, batch }) {
    const writer = await this.#logs.openWriter(id)
    const batches = Array.from({ length: 100 }, (_, index) =>
      Array.from({ length: batch }, (_, line) => lineOf(index * batch + line)),
    )
    const begin = performance.now()
    for (let done = 0, index = 0; done < lines; done += batch, index += 1) {
      writer.append(batches[index % batches.length])
      if (index % 50 === 0) await turn()
    }
    await writer.flush()
    const seconds = (performance.now() - begin) / 1000
    await writer.close()
    return seconds
  }

  /** @param {string} id */
  async remove(id) {
    await this.#logs.remove(id)
  }

  /**
   * Makes a finished build of each log.
   * @param {string} organizationId
   * @param {readonly string[]} ids
   */
  async addBuilds(organizationId, ids) {
    const store = new SqliteStore(join(this.#folder, 'cloud.db'))
    try {
      for (const id of ids) {
        const context = { uploadId: randomUUID(), contextHash: 'none', contextSizeBytes: 0 }
        const options = {
          region: 'local',
          dockerfilePath: 'Dockerfile',
          noCache: false,
          cancelRequested: false,
        }
        const now = Date.now()
        const times = { createdAt: now, updatedAt: now }
        await store.builds.create({ id, organizationId, status: 'pending', ...context, ...options, ...times })
        await store.builds.finish(id, { ...SUCCESS, builder: 'none' }, now)
      }
    } finally {
      await store.close()
    }
  }

  async close() {
    await this.#logs.close()
  }
}
