import { randomUUID } from 'node:crypto'
import type { Dirent } from 'node:fs'
import { chmod, opendir, rename, rm, rmdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '../errors.ts'

/**
 * Removes a folder that a bot has written to, whose processes are gone. It may have folders that even their owner cannot look into, or that
 * are nested so deeply that no path leads there.
 */
export async function removeFolder(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true, maxRetries: 3 })
  } catch {
    await dismantle(path)
  }
}

/**
 * Brings what is nested up to the top, level by level, so that no path becomes long. What has failed before may still be removing
 * something at other places, so that anything may be gone meanwhile.
 */
async function dismantle(root: string): Promise<void> {
  for (let isEmpty = false; !isEmpty; ) {
    isEmpty = true
    await unlessGone(async () => {
      for await (const entry of await opened(root)) {
        isEmpty = false
        const path = join(root, entry.name)
        await unlessGone(() => (entry.isDirectory() ? empty(path, root) : unlink(path)))
      }
    })
  }
  await unlessGone(() => rmdir(root))
}

async function empty(folder: string, root: string): Promise<void> {
  for await (const entry of await opened(folder)) {
    const path = join(folder, entry.name)
    await unlessGone(() => (entry.isDirectory() ? moveUp(path, root) : unlink(path)))
  }
  await rmdir(folder)
}

async function moveUp(path: string, root: string): Promise<void> {
  // One that cannot be written to cannot be moved.
  await chmod(path, 0o700)
  await rename(path, join(root, randomUUID()))
}

async function opened(folder: string): Promise<AsyncIterable<Dirent>> {
  await chmod(folder, 0o700)
  return await opendir(folder)
}

async function unlessGone(work: () => Promise<void>): Promise<void> {
  await work().catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error
  })
}
