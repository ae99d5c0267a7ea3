import type { InstanceSpec } from '../engine/engine.ts'
import { openProcessEngine } from '../engine/open-process-engine.ts'

// Starts an instance and waits to be killed. What it is to do is in its argument.
const { spec, ...options } = JSON.parse(process.argv[2] ?? '') as {
  readonly spec: InstanceSpec
  readonly dataFolder: string
  readonly folder: string
  readonly runner: readonly string[]
  readonly sandbox: boolean
}
const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
const engine = await openProcessEngine({ ...options, log })
await engine.start(spec)
process.stdout.write('started\n')
setInterval(() => undefined, 60_000)
