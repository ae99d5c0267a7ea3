import { readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { killAll } from './processes.ts'

const LOOK_EVERY_MS = 200

/** The process ids in a control group and in those below it. */
export async function pidsIn(folder: string): Promise<readonly number[]> {
  const text = await readFile(join(folder, 'cgroup.procs'), 'utf8').catch(() => '')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map(Number)
}

/** One number out of a file of `name value` lines. */
export async function counter(file: string, name: string): Promise<number> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0)
}

/** Ends what is in a group and removes it. */
export async function removeGroup(folder: string): Promise<void> {
  // One write ends all of them where the kernel can do that.
  await writeFile(join(folder, 'cgroup.kill'), '1').catch(() => undefined)
  await killAll(() => pidsIn(folder))
  for (let round = 0; round < 50; round += 1) {
    const done = await rmdir(folder).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
    )
    if (done) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** The kernel ends one process that wants too much memory; the others would wait for it, so they are ended as well. */
export function watchMemory(
  outOfMemory: () => Promise<boolean>,
  exceeded: (what: 'memory') => void,
): { stop(): void } {
  const timer = setInterval(async () => {
    if (await outOfMemory()) exceeded('memory')
  }, LOOK_EVERY_MS)
  return { stop: () => clearInterval(timer) }
}
