import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCommand } from '../testing/run-command.ts'
import { treeOf } from '../testing/tree.ts'

const BIN = fileURLToPath(new URL('../../bin/botcli.js', import.meta.url))
const PROJECT = [
  '-t',
  'webrtc',
  '-m',
  'realtime',
  '--realtime',
  'openai_realtime',
  '--client-framework',
  'react',
]
const LINE = ['init', '.', '-n', 'x', '--force', ...PROJECT]
const TIMES = 12

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'botcli-killed-'))
})
afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

/** Starts the command, and ends it after a part of the time that it takes. */
async function killed(signal: NodeJS.Signals, afterMs: number): Promise<void> {
  const child = spawn(process.execPath, [BIN, ...LINE], { cwd: folder, stdio: 'ignore' })
  const gone = once(child, 'exit')
  await Promise.race([sleep(afterMs), gone])
  child.kill(signal)
  await gone
}

async function timed(): Promise<number> {
  const start = performance.now()
  expect(await runCommand(LINE, folder)).toMatchObject({ code: 0 })
  return performance.now() - start
}

async function empty(): Promise<void> {
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true })
  await writeFile(join(folder, 'README.md'), 'mine')
  await writeFile(join(folder, '.gitignore'), 'mine\n')
}

describe('a run that is killed', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'by %s leaves the folder as it was, or done',
    async (signal) => {
      await empty()
      const before = await treeOf(folder)
      const whole = await timed()
      const done = await treeOf(folder)
      for (let time = 0; time < TIMES; time += 1) {
        await empty()
        await killed(signal, (whole * (time + 1)) / TIMES)
        const after = await treeOf(folder)
        expect([before, done]).toContainEqual(after)
      }
    },
  )

  it('at once is mended by the next one', async () => {
    await empty()
    const whole = await timed()
    const done = await treeOf(folder)
    for (let time = 0; time < TIMES; time += 1) {
      await empty()
      await killed('SIGKILL', (whole * (time + 1)) / TIMES)
      expect(await runCommand(LINE, folder)).toMatchObject({ code: 0 })
      expect(await treeOf(folder)).toEqual(done)
    }
  })
})
