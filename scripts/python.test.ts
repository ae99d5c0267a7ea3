import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findPython } from './find-python.mjs'

const ROOT = resolve(import.meta.dirname, '..')
const TESTS = 'python/tests'
const LIMIT_MS = 240_000

const files = readdirSync(resolve(ROOT, TESTS)).filter((name) => /^test_.*\.py$/.test(name))
const python = findPython()

/** Runs one file of tests; what it says when it fails, nothing when all is well. */
function failureOf(file: string): Promise<string> {
  if ('problem' in python) return Promise.resolve(python.problem)
  const args = ['-m', 'unittest', 'discover', '-s', TESTS, '-p', file]
  return new Promise((done) => {
    execFile(python.path, args, { cwd: ROOT, timeout: LIMIT_MS }, (error, stdout, stderr) => {
      const ran = / \d+ tests? in /.test(stderr) && !/^Ran 0 tests/m.test(stderr)
      done(error === null && ran ? '' : `${stdout}${stderr}` || String(error))
    })
  })
}

// Each of them mostly waits for processes and deadlines, so several run at the same time.
describe.concurrent('the Python package', () => {
  it.each(files)('%s', { timeout: LIMIT_MS + 10_000 }, async (file) => {
    expect(await failureOf(file)).toBe('')
  })
})
