// Makes what the runner carries for Python bots: the package as it is imported, and as a wheel for projects.
import { spawnSync } from 'node:child_process'
import { readFileSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { findPython } from './find-python.mjs'

const ROOT = resolve(import.meta.dirname, '..')
const SOURCE = join(ROOT, 'python')
const TARGET = join(ROOT, 'packages/runner/dist/python')

const python = findPython()
if ('problem' in python) {
  // Bots in TypeScript need none of it, and the tests notice that it is not there. An old one would be worse.
  rmSync(TARGET, { recursive: true, force: true })
  console.warn(`python: ${python.problem} The package for Python bots was not built.`)
} else build(python.path)

function build(path) {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'packages/cli/package.json'), 'utf8'))
  const fresh = `${TARGET}.${process.pid}`
  try {
    const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' }
    const { status, error } = spawnSync(path, ['-m', 'backend', fresh, version], {
      cwd: SOURCE,
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    if (status !== 0) throw error ?? new Error(`the package for Python bots was not built (code ${status})`)
    rmSync(TARGET, { recursive: true, force: true })
    renameSync(fresh, TARGET)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}
