// Sees to it that there is a Python for the tests, if this machine lets us: Debian's python3, by apt-get, as root.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { findPython } from './find-python.mjs'

let python = findPython()
if ('problem' in python && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
  console.log('python: installing python3 with apt-get, once')
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const run = (args) => spawnSync('apt-get', args, { env, stdio: ['ignore', 'ignore', 'inherit'] })
  run(['update', '-qq'])
  run(['install', '-y', '-qq', '--no-install-recommends', 'python3'])
  python = findPython()
}
if ('problem' in python) {
  console.error(`python: ${python.problem} The tests of Python bots cannot run without it.`)
  process.exitCode = 1
} else console.log(`python: ${python.path} (${python.version})`)
