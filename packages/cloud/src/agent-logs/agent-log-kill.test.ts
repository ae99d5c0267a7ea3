import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildSync } from 'esbuild'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { SqliteAgentLogStore } from './sqlite-agent-log-store.ts'

const AGENT = 'killed'
// Below node_modules, so that what is not bundled is found from there.
const CACHE = join(import.meta.dirname, '../../../../node_modules/.cache/botcli-cloud')
let folder: string
let script: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agent-log-kill-'))
  mkdirSync(CACHE, { recursive: true })
  script = join(CACHE, `agent-log-writer-${process.pid}.mjs`)
  const entryPoints = [join(import.meta.dirname, '../testing/agent-log-writer-process.ts')]
  buildSync({
    entryPoints,
    outfile: script,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  })
})
afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
  await rm(script, { force: true })
})

/** Starts a writer, kills it after so many reports and a moment more, and gives how many entries it was told are there. */
async function killed(maxBytes: number, reports: number, moreMs: number): Promise<number> {
  const child = spawn(process.execPath, [script, join(folder, 'logs.db'), AGENT, String(maxBytes)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.setEncoding('utf8')
  await new Promise<void>((resolve) => {
    child.stdout.on('data', (text: string) => {
      output += text
      if (output.split('\n').length > reports) resolve()
    })
    child.on('exit', () => resolve())
  })
  await new Promise((resolve) => setTimeout(resolve, moreMs))
  child.kill('SIGKILL')
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  const told = output.slice(0, output.lastIndexOf('\n')).split('\n')
  return Number(told.at(-1) ?? 0)
}

it.each([
  ['that fits', 100_000_000],
  ['that is pruned all the time', 50_000],
])('a log %s loses no entry to a kill, and has none twice', async (_, maxBytes) => {
  for (let round = 0; round < 6; round += 1) {
    const told = await killed(maxBytes, 1 + ((round * 17) % 60), (round * 3) % 8)
    const store = new SqliteAgentLogStore(join(folder, 'logs.db'), {
      maxBytes,
      maxAgeMs: Number.MAX_SAFE_INTEGER,
    })
    const newest = await store.newest(AGENT)
    const { entries } = await store.page(AGENT, {}, { limit: 10_000, order: 'desc' })
    expect(newest).toBeGreaterThanOrEqual(told)
    // What was read of the journal and what is in the log are the same.
    expect((await store.position(AGENT))?.offset ?? 0).toBe(newest)
    expect(entries.map(({ id, text }) => [id, text])).toEqual(
      entries.map((_, index) => [newest - index, `entry ${newest - index}`]),
    )
    const bytes = entries.reduce((sum, { text }) => sum + 256 + text.length, 0)
    // What is missing had to go.
    if (entries.length < Math.min(newest, 10_000)) expect(bytes).toBeGreaterThan(maxBytes - 300)
    expect(bytes).toBeLessThanOrEqual(maxBytes)
    await store.close()
  }
})
