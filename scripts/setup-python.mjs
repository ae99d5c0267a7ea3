// Sees to it that there is a Python for the tests, and that it can make virtual environments, if this machine lets us: Debian's python3 and
// python3-venv, by apt-get, as root.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { findPython } from './find-python.mjs'

const mayInstall = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')

let python = findPython()
if ('problem' in python && mayInstall) {
  install('python3', 'python3-venv')
  python = findPython()
} else if (!hasVenv(python) && mayInstall) install('python3-venv')
if ('problem' in python) {
  console.error(`python: ${python.problem} The tests of Python bots cannot run without it.`)
  process.exitCode = 1
} else console.log(`python: ${python.path} (${python.version})`)

/** @param {readonly string[]} names */
function install(...names) {
  console.log(`python: installing ${names.join(' and ')} with apt-get, once`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const run = (args) => spawnSync('apt-get', args, { env, stdio: ['ignore', 'ignore', 'inherit'] })
  run(['update', '-qq'])
  run(['install', '-y', '-qq', '--no-install-recommends', ...names])
}

function hasVenv(found) {
  return 'problem' in found || spawnSync(found.path, ['-c', 'import venv, ensurepip']).status === 0
}
