import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { freshFolder, snapshot } from '../testing/folders.ts'
import { FILE_COUNT, writerProgram } from '../testing/writer-program.ts'
import { openFolder } from './project.ts'

const ROUNDS = 10

it('leaves nothing or everything when it is killed at random', async () => {
  const program = await writerProgram()
  const outcomes = { half: 0, done: 0 }
  for (let round = 0; round < ROUNDS; round += 1) {
    const home = await freshFolder()
    const root = join(home, 'project')
    await mkdir(join(root, 'old'), { recursive: true })
    for (let n = 0; n < FILE_COUNT; n += 4) await writeFile(join(root, 'old', String(n)), 'theirs')
    const was = await snapshot(home)
    const child = spawn(process.execPath, [program, root], { stdio: ['ignore', 'pipe', 'inherit'] })
    const exited = once(child, 'exit')
    await once(child.stdout, 'data')
    await sleep(round)
    child.kill('SIGKILL')
    await exited
    await openFolder(root)
    const now = await snapshot(home)
    const isDone = Object.values(now).filter((entry) => entry.endsWith(' ours')).length === FILE_COUNT
    outcomes[isDone ? 'done' : 'half'] += 1
    if (!isDone) expect(now).toEqual(was)
    expect(Object.keys(now).filter((path) => path.includes('stage'))).toEqual([])
  }
  // Kills that all come too late would show nothing.
  expect(outcomes.half).toBeGreaterThan(0)
})
