import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
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
  const options = { timeout: INSTALL_LIMIT_MS, env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } }
  try {
    await run('apt-get', ['update', '-qq'], options)
    await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...names], options)
    return undefined
  } catch (error) {
    return {
      skipped: `${list} could not be installed: ${(error as Error).message.trim().split('\n').at(-1)}`,
    }
  }
}
