// Starts what a newcomer wants to see: a bot to talk to, and a cloud. Both end together.
import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const BOTCLI = fileURLToPath(new URL('../packages/cli/bin/botcli.js', import.meta.url))
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']

process.stdout.write('Building, which takes half a minute the first time…\n')
const built = spawnSync('npm', ['run', 'build', '--silent'], {
  stdio: 'inherit',
  shell: process.platform === 'win32',
})
if (built.status !== 0) process.exit(built.status ?? 1)

const [bot, cloud] = [
  { name: 'the bot', argv: ['run', 'examples/demo'] },
  { name: 'the cloud', argv: ['cloud'] },
].map(({ name, argv }) => ({
  name,
  child: spawn(process.execPath, [BOTCLI, ...argv], { stdio: 'inherit' }),
}))

let isStopping = false
function passOn(signal) {
  isStopping = true
  for (const { child } of [bot, cloud]) if (child.exitCode === null) child.kill(signal)
}
// A terminal tells everybody; others tell only this process. The commands count both as one.
for (const signal of SIGNALS) process.on(signal, () => passOn(signal))

/** Whether a command ended well. */
function ended({ name, child }, other) {
  return new Promise((resolve) => {
    child.once('error', () => resolve(false))
    child.once('exit', (code) => {
      if (!isStopping) {
        // One without the other is not what was asked for.
        process.stderr.write(`npm start: ${name} has ended, so ${other.name} is stopped too.\n`)
        passOn('SIGTERM')
      }
      resolve(code === 0)
    })
  })
}

const isGood = await Promise.all([ended(bot, cloud), ended(cloud, bot)])
process.exitCode = isGood.every(Boolean) ? 0 : 1
