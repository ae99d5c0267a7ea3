import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
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
const WITHOUT_FORCE = ['init', '.', '-n', 'x', ...PROJECT]
const LINE = [...WITHOUT_FORCE, '--force']
const TIMES = 12

let around: string
let folder: string

beforeEach(async () => {
  around = await mkdtemp(join(tmpdir(), 'botcli-killed-'))
  folder = join(around, 'project')
  await mkdir(folder)
})
afterEach(async () => {
  await rm(around, { recursive: true, force: true })
})

/** Starts the command, and ends it after a part of the time that it takes. */
async function killed(signal: NodeJS.Signals, afterMs: number): Promise<void> {
  const child = spawn(process.execPath, [BIN, ...LINE], { cwd: folder, stdio: 'ignore' })
  const gone = once(child, 'exit')
  await Promise.race([sleep(afterMs), gone])
  child.kill(signal)
  await gone
}

/** Kills the command as soon as it has begun to write, and tells whether it was still at it. */
async function killedWhileWriting(): Promise<boolean> {
  const child = spawn(process.execPath, [BIN, ...LINE], { cwd: folder, stdio: 'ignore' })
  const gone = once(child, 'exit')
  let running = true
  child.on('exit', () => {
    running = false
  })
  while (running && stages().length === 0) await sleep(0)
  child.kill('SIGKILL')
  await gone
  return stages().length > 0
}

/** Where the command puts files before it moves them. */
function stages(): readonly string[] {
  return readdirSync(around).filter((name) => name.startsWith('.botcli-stage-'))
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

  it('at once, in the middle of writing, is mended by the next one', async () => {
    await empty()
    const before = await treeOf(folder)
    await timed()
    const done = await treeOf(folder)
    let interrupted = 0
    for (let time = 0; time < TIMES; time += 1) {
      await empty()
      interrupted += (await killedWhileWriting()) ? 1 : 0
      const { code } = await runCommand(WITHOUT_FORCE, folder)
      const after = await treeOf(folder)
      expect(stages()).toEqual([])
      // Without --force, files of the user's are in the way of another attempt.
      expect(after).toEqual(code === 0 ? done : before)
    }
    expect(interrupted).toBeGreaterThan(0)
  })
})
