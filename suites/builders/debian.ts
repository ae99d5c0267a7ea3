import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const INSTALL_LIMIT_MS = 300_000

/** Makes sure that programs are there, from Debian's packages where that is possible; or says why they are not. */
export async function debianPrograms(
  programs: Readonly<Record<string, string>>,
): Promise<{ readonly skipped: string } | undefined> {
  const missing = Object.entries(programs).filter(([path]) => !existsSync(path))
  if (missing.length === 0) return undefined
  const names = missing.map(([, name]) => name)
  const list = names.join(', ')
  if (process.getuid?.() !== 0)
    return { skipped: `${list} not installed, and only root may install packages` }
  if (!existsSync('/usr/bin/apt-get')) return { skipped: `${list} not installed, and this is no Debian` }
  try {
    await aptGet(['update', '-qq'])
    await aptGet(['install', '-y', '-qq', '--no-install-recommends', ...names])
    return undefined
  } catch (error) {
    return {
      skipped: `${list} could not be installed: ${(error as Error).message.trim().split('\n').at(-1)}`,
    }
  }
}

/** Runs `apt-get`, one at a time: suites run side by side, and it does not wait for itself. */
export async function aptGet(args: readonly string[], cwd?: string): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const lock = join(tmpdir(), 'botcli-suites-apt.lock')
  await run('flock', [lock, 'apt-get', ...args], { timeout: INSTALL_LIMIT_MS, env, cwd })
}
