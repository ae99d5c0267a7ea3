// Writes a log until it is killed, and prints how many lines are safe after each flush. When the disk takes no more, it makes room and
// seals the log.
import { execFileSync } from 'node:child_process'
import { CloudError } from '../errors.ts'
import { SegmentLogStore } from '../logs/segment-log-store.ts'

const [folder = '', id = '', maxBytes = ''] = process.argv.slice(2)
const store = new SegmentLogStore(folder, { maxBytes: Number(maxBytes) })
const writer = await store.openWriter(id)
let next = store.state(id).end
process.stdout.write(`${next}\n`)

async function write(): Promise<never> {
  for (;;) {
    const count = 1 + ((next * 7919) % 400)
    writer.append(Array.from({ length: count }, (_, index) => `line ${next + index}`))
    next += count
    if (next % 3 === 0) {
      await writer.flush()
      process.stdout.write(`${next}\n`)
    } else {
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}

try {
  await write()
} catch (error) {
  if (!(error instanceof CloudError)) throw error
  process.stdout.write(`${error.code}\n`)
  execFileSync('prlimit', ['--fsize=unlimited', '--pid', String(process.pid)])
  await writer.seal()
  await store.close()
}
