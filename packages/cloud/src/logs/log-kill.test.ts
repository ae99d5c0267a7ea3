import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { buildSync } from 'esbuild'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseLines } from './log-text.ts'
import { SegmentLogStore } from './segment-log-store.ts'

const ID = 'killed'
const LEFT_OUT = /^\[(\d+) lines? (?:was|were) left out here/
let folder: string
let script: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'log-kill-'))
  script = join(folder, 'writer.mjs')
  const entryPoints = [join(import.meta.dirname, '../testing/log-writer-process.ts')]
  buildSync({
    entryPoints,
    outfile: script,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  })
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** Starts a writer, kills it after so many reports and a moment more, and gives how many lines it called safe. */
async function killed(args: readonly string[], reports: number, moreMs: number): Promise<number> {
  const child = spawn(process.execPath, [script, join(folder, 'logs'), ID, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.setEncoding('utf8')
  const enough = new Promise<void>((resolve) => {
    child.stdout.on('data', (text: string) => {
      output += text
      if (output.split('\n').length > reports) resolve()
    })
    child.on('exit', () => resolve())
  })
  await enough
  await new Promise((resolve) => setTimeout(resolve, moreMs))
  child.kill('SIGKILL')
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  const safe = output.slice(0, output.lastIndexOf('\n')).split('\n')
  return Number(safe.at(-1) ?? 0)
}

describe('a writer that is killed at any point', () => {
  it.each([
    ['', 100_000_000],
    [' with an overlong log', 50_000],
  ])('loses no line that was safe%s', async (_, maxBytes) => {
    let end = 0
    for (let round = 0; round < 6; round += 1) {
      const safe = await killed([String(maxBytes)], 1 + ((round * 5) % 12), (round * 3) % 8)
      const store = new SegmentLogStore(join(folder, 'logs'), { maxBytes })
      const page = store.tail(ID, Number.POSITIVE_INFINITY)
      const body = Buffer.alloc(page.bytes)
      page.copyTo(body)
      await store.close()
      expect(page.end).toBeGreaterThanOrEqual(Math.max(safe, end))
      end = page.end
      let at = 0
      for (const line of parseLines(body)) {
        const leftOut = LEFT_OUT.exec(line)?.[1]
        if (leftOut === undefined) expect(line).toBe(`line ${at}`)
        at += Number(leftOut ?? 1)
      }
      expect(at).toBe(end)
    }
    expect(end).toBeGreaterThan(1000)
  })

  it('is told when the disk takes no more, and the log says so', async () => {
    const command = `ulimit -S -f 64; exec "$0" "$@"`
    const args = ['-c', command, process.execPath, script, join(folder, 'logs'), ID, '100000000']
    const { stdout } = await promisify(execFile)('bash', args, { timeout: 30_000 })
    const reports = stdout.trim().split('\n')
    expect(reports.at(-1)).toBe('UNAVAILABLE')
    const store = new SegmentLogStore(join(folder, 'logs'))
    const page = store.tail(ID, Number.POSITIVE_INFINITY)
    const body = Buffer.alloc(page.bytes)
    page.copyTo(body)
    const lines = parseLines(body)
    expect(store.state(ID).sealed).toBe(true)
    await store.close()
    const told = /^\[The log ends here: .*EFBIG.* At least (\d+) lines are missing\.\]$/.exec(
      lines.at(-1) ?? '',
    )?.[1]
    expect(Number(told)).toBeGreaterThan(0)
    expect(lines.length - 1).toBeGreaterThanOrEqual(Number(reports.at(-2)))
    expect(lines.slice(0, -1)).toEqual(
      Array.from({ length: lines.length - 1 }, (_, index) => `line ${index}`),
    )
  })
})
