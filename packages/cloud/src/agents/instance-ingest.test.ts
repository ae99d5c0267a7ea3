import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { SqliteAgentLogStore } from '../agent-logs/sqlite-agent-log-store.ts'
import { RedactionTable } from '../logs/redaction-table.ts'
import { InstanceIngest } from './instance-ingest.ts'

let folder: string
let logs: SqliteAgentLogStore
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'botcli-ingest-'))
  logs = new SqliteAgentLogStore(join(folder, 'logs.db'), { maxBytes: 1_000_000, maxAgeMs: 1_000_000 })
})
afterEach(async () => {
  vi.useRealTimers()
  await logs.close()
  await rm(folder, { recursive: true, force: true })
})

it('tries again once, however often it was woken meanwhile', async () => {
  const outputPath = join(folder, 'output.log')
  await writeFile(outputPath, 'a line\n')
  let tries = 0
  let isBroken = true
  const ingest = new InstanceIngest({
    ...{ agentId: 'agent', deploymentId: 'deployment', instanceId: 'instance', outputPath, logs },
    journalFolder: join(folder, 'journal'),
    redaction: async () => {
      tries += 1
      ingest.wake()
      if (isBroken) throw new Error('not now')
      return RedactionTable.of([])
    },
    onSession: async () => {},
    onLost: () => {},
    log: { info: () => {}, warn: () => {}, error: () => {} },
    clock: Date.now,
  })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  ingest.wake()
  for (const round of [1, 2, 3]) {
    // Each of these is one more try, which comes after what was woken before it.
    await expect(ingest.catchUp()).rejects.toThrow('not now')
    await expect(ingest.catchUp()).rejects.toThrow('not now')
    expect(tries).toBe(3 * round)
    expect(vi.getTimerCount()).toBe(1)
    vi.advanceTimersByTime(1000)
  }
  isBroken = false
  await ingest.catchUp()
  expect(await logs.newest('agent')).toBe(1)
  await ingest.close()
  expect(vi.getTimerCount()).toBe(0)
})
