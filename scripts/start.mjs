// Starts what a newcomer wants to see: a bot to talk to, and a cloud. Both end together.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const BOTCLI = fileURLToPath(new URL('../packages/cli/bin/botcli.js', import.meta.url))
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']

const children = [['run', 'examples/demo'], ['cloud']].map((argv) =>
  spawn(process.execPath, [BOTCLI, ...argv], { stdio: 'inherit' }),
)

let isStopping = false
function passOn(signal) {
  isStopping = true
  for (const child of children) if (child.exitCode === null) child.kill(signal)
}
// A terminal tells everybody; others tell only this process. The commands count both as one.
for (const signal of SIGNALS) process.on(signal, () => passOn(signal))

const codes = await Promise.all(
  children.map(
    (child) =>
      new Promise((resolve) => {
        child.once('error', () => resolve(1))
        child.once('exit', (code, signal) => {
          // One without the other is not what was asked for.
          if (!isStopping) passOn('SIGTERM')
          resolve(signal === null ? code : 1)
        })
      }),
  ),
)
process.exitCode = Math.max(...codes)
