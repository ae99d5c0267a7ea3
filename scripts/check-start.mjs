// Starts what a newcomer starts, opens what it prints, and stops it with a Ctrl-C.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

const LIMIT_MS = 120_000
const child = spawn('npm', ['start', '--silent'], { detached: true, stdio: ['ignore', 'inherit', 'inherit'] })
const exited = once(child, 'exit')
const deadline = setTimeout(() => {
  console.error(`npm start did not serve and stop within ${LIMIT_MS / 1000} seconds`)
  process.kill(-child.pid, 'SIGKILL')
}, LIMIT_MS)

const page = await firstAnswer('http://localhost:7860/')
if (!page?.includes('<title>Talk to your bot')) console.error('the page is not at the address of the README')
// A terminal sends the signal to everything in its foreground.
process.kill(-child.pid, 'SIGINT')
const [code, signal] = await exited
clearTimeout(deadline)
const gone = await fetch('http://localhost:7860/status').then(
  () => false,
  () => true,
)
// npm passes on the signal that it got, whatever its child made of it.
const good = page !== undefined && gone && (code === 0 || signal === 'SIGINT')
console.log(good ? 'npm start: served, and stopped' : `npm start: ended with ${signal ?? `code ${code}`}`)
process.exitCode = good ? 0 : 1

async function firstAnswer(url) {
  while (child.exitCode === null) {
    const response = await fetch(url).catch(() => undefined)
    if (response?.ok) return response.text()
    await new Promise((resolve) => setTimeout(resolve, 300))
  }
  return undefined
}
