// The Python that builds and tests what Python bots import. Plain is enough: no pip, no packages.
import { spawnSync } from 'node:child_process'

/** The names by which the runner looks for it, too. */
const NAMES = ['python3', 'python']
const PROBE =
  'import sys; print(sys.executable, "%d.%d.%d" % sys.version_info[:3]); sys.exit(sys.version_info < (3, 11))'

/**
 * Looks for Python 3.11 or newer.
 * @returns {{ path: string, version: string } | { problem: string }}
 */
export function findPython() {
  const tooOld = []
  for (const name of NAMES) {
    const { status, stdout } = spawnSync(name, ['-c', PROBE], { encoding: 'utf8' })
    const [, path, version] = /^(.+) (\S+)\s*$/.exec(stdout ?? '') ?? []
    if (path === undefined) continue
    if (status === 0) return { path, version }
    tooOld.push(`${path} is ${version}`)
  }
  const found = tooOld.length === 0 ? 'none was found' : [...new Set(tooOld)].join(', ')
  return { problem: `Python 3.11 or newer is needed, but ${found}. Put it on the PATH as python3.` }
}
