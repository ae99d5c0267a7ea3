// The whole cloud on a data folder, with a builder that prints the time for whoever follows its log. Prints its address and its first key.
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { startCloud } from '../../packages/cloud/dist/index.js'

const [dataFolder] = process.argv.slice(2)
const silent = { info() {}, warn() {}, error: (...all) => console.error(...all) }

/** A build prints a line every few milliseconds that tells when it was printed, once our parent says how many. */
const clock = {
  name: 'clock 1.0',
  async build(_input, output, signal) {
    const [{ count, everyMs }] = await once(process, 'message', { signal })
    for (let index = 0; index < count; index += 1) {
      await sleep(everyMs, undefined, { signal })
      output.write(`at ${process.hrtime.bigint()}.\n`)
    }
    return { ok: true, imageUri: 'none', imageSizeBytes: 0, bases: [] }
  },
  async cleanUp() {},
  isFresh: async () => true,
  async remove() {},
}

const cloud = await startCloud({
  ...{ dataFolder, host: '127.0.0.1', port: 0, log: silent, version: '0' },
  builders: [{ kind: 'native', probe: async () => clock }],
})
process.once('SIGTERM', async () => {
  await cloud.close({ deadlineMs: 0 })
  process.exit(0)
})
process.stdout.write(`${JSON.stringify({ url: cloud.url, ...cloud.firstKeys })}\n`)
