// Puts a browser where the tests find it, if this machine lets us: Debian's chromium, by apt-get, as root.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const found = process.env.CHROMIUM_PATH ?? PLACES.find((path) => existsSync(path))
const mayInstall = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')

if (found !== undefined) console.log(`browser: ${found}`)
else if (!mayInstall) skip('no chromium here, and it can only be installed as root with apt-get')
else install()

function install() {
  console.log('browser: installing chromium with apt-get, once')
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const run = (args) =>
    spawnSync('apt-get', args, { env, stdio: ['ignore', 'ignore', 'inherit'] }).status === 0
  const done = run(['update', '-qq']) && run(['install', '-y', '-qq', '--no-install-recommends', 'chromium'])
  if (!done) skip('apt-get could not install chromium')
}

function skip(reason) {
  console.log(`browser: ${reason}; the browser tests are skipped. CHROMIUM_PATH names another one.`)
}
