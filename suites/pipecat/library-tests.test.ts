import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { withPipecat } from './with-pipecat.ts'

const PYTHON_FOLDER = resolve(import.meta.dirname, '../../python')

withPipecat('the tests of the Python package that need the library', (python) => {
  it('pass', () => {
    const { status, stderr } = spawnSync(python, ['-m', 'unittest', 'discover', '-s', 'tests_pipecat'], {
      cwd: PYTHON_FOLDER,
      env: { ...process.env, PYTHONPATH: resolve(PYTHON_FOLDER, 'src') },
      encoding: 'utf8',
    })
    expect(stderr).toMatch(/Ran [1-9]\d* tests/)
    expect(status, stderr).toBe(0)
  })
})
