// Appends to the log of an agent until it is killed, and prints how many entries it was told are there.
import { SqliteAgentLogStore } from '../agent-logs/sqlite-agent-log-store.ts'
import { logEntry } from './log-entries.ts'

const [path = '', agentId = '', maxBytes = ''] = process.argv.slice(2)
const store = new SqliteAgentLogStore(path, { maxBytes: Number(maxBytes), maxAgeMs: Number.MAX_SAFE_INTEGER })
let next = await store.newest(agentId)
process.stdout.write(`${next}\n`)

for (;;) {
  const count = 1 + ((next * 7919) % 40)
  const entries = Array.from({ length: count }, (_, index) => logEntry({ text: `entry ${next + index + 1}` }))
  next += count
  const position = { file: 1, offset: next, output: 0 }
  await store.append(agentId, entries, { instanceId: agentId, position })
  process.stdout.write(`${next}\n`)
}
