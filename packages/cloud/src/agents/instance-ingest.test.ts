import { appendFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { SqliteAgentLogStore } from '../agent-logs/sqlite-agent-log-store.ts'
import { JournalReader } from '../engine/journal-reader.ts'
import { OBSTACLES } from '../engine/obstacle.ts'
import { RedactionTable } from '../logs/redaction-table.ts'
import { InstanceIngest, type InstanceIngestOptions } from './instance-ingest.ts'

let folder: string
let logs: SqliteAgentLogStore
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'botcli-ingest-'))
  await mkdir(join(folder, 'journal'))
  logs = new SqliteAgentLogStore(join(folder, 'logs.db'), { maxBytes: 1_000_000, maxAgeMs: 1_000_000 })
})
afterEach(async () => {
  vi.useRealTimers()
  await logs.close()
  await rm(folder, { recursive: true, force: true })
})

function ingestOf(options: Partial<InstanceIngestOptions> = {}): InstanceIngest {
  return new InstanceIngest({
    ...{ agentId: 'agent', deploymentId: 'deployment', instanceId: 'instance', logs },
    journalFolder: join(folder, 'journal'),
    outputPath: join(folder, 'output.log'),
    redaction: async () => RedactionTable.of([]),
    onSession: async () => {},
    onLost: () => {},
    log: { info: () => {}, warn: () => {}, error: () => {} },
    clock: Date.now,
    ...options,
  })
}

async function texts(): Promise<readonly string[]> {
  const { entries } = await logs.page('agent', {}, { limit: 100, order: 'desc' })
  return entries.map(({ text }) => text).reverse()
}

it('tries again once, however often it was woken meanwhile', async () => {
  await writeFile(join(folder, 'output.log'), 'a line\n')
  let tries = 0
  let isBroken = true
  const ingest = ingestOf({
    redaction: async () => {
      tries += 1
      ingest.wake()
      if (isBroken) throw new Error('not now')
      return RedactionTable.of([])
    },
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

/** Writes something whenever something was read. */
function endless(): Partial<InstanceIngestOptions> {
  const write = () => appendFile(join(folder, 'output.log'), '\n'.repeat(6000))
  return {
    ...{ takeMs: 1, restBytes: 1 },
    redaction: async () => {
      await write()
      return RedactionTable.of([])
    },
  }
}

it('who waits for what was written does not wait for one that writes without an end', async () => {
  await writeFile(join(folder, 'output.log'), '\n'.repeat(6000))
  const ingest = ingestOf(endless())
  await ingest.catchUp()
  await ingest.close()
})

it('the rest of one that has left something without an end is left out, and that is told', async () => {
  await writeFile(join(folder, 'output.log'), '\n'.repeat(6000))
  await ingestOf(endless()).finish()
  expect((await texts()).filter((text) => text !== '')).toEqual([OBSTACLES.endless])
})

it('the rest of one that has ended is taken over, which may take longer than what comes while it runs', async () => {
  await writeFile(join(folder, 'output.log'), '\n'.repeat(12_000))
  await ingestOf({ takeMs: 0 }).finish()
  expect(await logs.newest('agent')).toBe(12_000)
})

it('the rest of one that makes file after file is left out', async () => {
  let files = 0
  const makeFile = async () => {
    files += 1
    await writeFile(join(folder, 'journal', `${String(files).padStart(8, '0')}.jsonl`), '')
  }
  await makeFile()
  await makeFile()
  const redaction = async () => {
    await makeFile()
    return RedactionTable.of([])
  }
  await ingestOf({ redaction, restBytes: 1024 ** 2 }).finish()
  expect(await texts()).toEqual([OBSTACLES.endless])
})

it('how sessions ended is seen at the end of what is left out', async () => {
  const line = (sessionId: string, state: string) =>
    `${JSON.stringify({ type: 'session', session: { sessionId, state, createdAt: '2026-01-01T00:00:00Z' } })}\n`
  const noise = 'noise\n'.repeat(100_000)
  await writeFile(
    join(folder, 'journal/00000001.jsonl'),
    `${noise}${line('a', 'active')}${line('b', 'ended')}`,
  )
  await writeFile(join(folder, 'journal/00000002.jsonl'), line('a', 'ended').trimEnd())
  const told: string[] = []
  const onSession: InstanceIngestOptions['onSession'] = async ({ sessionId, state }) => {
    told.push(`${sessionId} ${state}`)
  }
  await ingestOf({ restBytes: 1, onSession }).finish()
  expect(told).toEqual(['a ended', 'b ended'])
  expect((await texts()).at(-1)).toBe(OBSTACLES.endless)
})

it('the rest of one that is closed meanwhile is left to the next process', async () => {
  await writeFile(join(folder, 'output.log'), '\n'.repeat(6000))
  const ingest = ingestOf({
    redaction: async () => {
      void ingest.close()
      return RedactionTable.of([])
    },
  })
  await ingest.finish()
  expect(await logs.position('instance')).toMatchObject({ output: 1000 })
  await ingestOf().finish()
  expect(await logs.newest('agent')).toBe(6000)
})

it('what is in the way is told once, however often it is met', async () => {
  await mkdir(join(folder, 'output.log'))
  await mkdir(join(folder, 'journal/00000001.jsonl'))
  let lost = 0
  const ingest = ingestOf({
    onLost: () => {
      lost += 1
    },
  })
  await ingest.catchUp()
  await ingest.catchUp()
  await ingest.finish()
  expect(await texts()).toEqual([OBSTACLES['journal-strange'], OBSTACLES['output-strange']])
  expect(lost).toBe(1)
})

describe('where reading fails for no reason of the instance', () => {
  beforeEach(() => {
    const trouble = Object.assign(new Error('too many open files'), { code: 'EMFILE' })
    vi.spyOn(JournalReader.prototype, 'read').mockRejectedValue(trouble)
  })
  afterEach(() => {
    vi.restoreAllMocks()
  })

  it('nobody waits for it while it runs, and it is tried again', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const ingest = ingestOf()
    await ingest.catchUp()
    await ingest.catchUp()
    expect(vi.getTimerCount()).toBe(1)
    vi.restoreAllMocks()
    await writeFile(join(folder, 'output.log'), 'a line\n')
    vi.advanceTimersByTime(1000)
    await ingest.catchUp()
    expect(await texts()).toEqual(['a line'])
    await ingest.close()
  })

  it('the rest is tried a minute, then left out, and that is told', async () => {
    const ingest = ingestOf()
    for (let tries = 1; tries < 60; tries += 1) await expect(ingest.finish()).rejects.toThrow('too many')
    await ingest.finish()
    expect(await texts()).toEqual([OBSTACLES.unread])
  })
})

it('what cannot be written is never given up', async () => {
  await writeFile(join(folder, 'output.log'), 'a line\n')
  let isBroken = true
  const ingest = ingestOf({
    redaction: async () => {
      if (isBroken) throw new Error('not now')
      return RedactionTable.of([])
    },
  })
  for (let tries = 1; tries < 100; tries += 1) await expect(ingest.finish()).rejects.toThrow('not now')
  isBroken = false
  const forget = vi.spyOn(logs, 'forgetPosition').mockRejectedValueOnce(new Error('not now'))
  await expect(ingest.finish()).rejects.toThrow('not now')
  await ingest.finish()
  expect(forget).toHaveBeenCalledTimes(2)
  expect(await logs.position('instance')).toBeUndefined()
  expect(await texts()).toEqual(['a line'])
})
