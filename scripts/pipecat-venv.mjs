// A virtual environment with pipecat-ai, for what can only be tried where PyPI can be reached.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const PACKAGE = 'pipecat-ai[runner,webrtc,websocket,openai,cli]==1.14.*'
const PYTHONS = ['python3.12', 'python3.11', 'python3.13', 'python3']
const INSTALL_LIMIT_MS = 600_000

/**
 * Gets the library ready, once for this machine.
 * @param {AbortSignal} [signal]
 * @returns {Promise<{ python: string, version: string } | { skipped: string }>}
 */
export async function setUpPipecat(signal) {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache')
  const folder = join(cache, 'botcli', 'pipecat-1.14')
  const python = join(folder, 'bin', 'python')
  const done = join(folder, '.complete')
  if (!existsSync(done)) {
    const base = await findPython(signal)
    if (base === undefined) return { skipped: 'no Python 3.11 or newer with ensurepip was found' }
    process.stderr.write('pipecat-ai: installing it into a cache folder, once; this takes a minute or two\n')
    try {
      await rm(folder, { recursive: true, force: true })
      await mkdir(folder, { recursive: true })
      await run(base, ['-m', 'venv', folder], { signal, timeout: INSTALL_LIMIT_MS })
      await run(python, ['-m', 'pip', 'install', '-q', PACKAGE], { signal, timeout: INSTALL_LIMIT_MS })
      await writeFile(done, `${PACKAGE}\n`)
    } catch (error) {
      return { skipped: `pipecat-ai could not be installed: ${lastLine(error)}` }
    }
  }
  const ask = "import importlib.metadata as m; print(m.version('pipecat-ai'))"
  const { stdout } = await run(python, ['-c', ask], { signal })
  return { python, version: stdout.trim() }
}

async function findPython(signal) {
  for (const python of PYTHONS) {
    const ask = 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))'
    const found = await run(python, ['-c', ask], { signal }).catch(() => undefined)
    if (found !== undefined) return python
  }
  return undefined
}

function lastLine(error) {
  const text = String(error.stderr || error.message).trim()
  return text.slice(text.lastIndexOf('\n') + 1)
}
