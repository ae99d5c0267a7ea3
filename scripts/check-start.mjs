// Starts what a newcomer starts, opens what it prints, and stops it with a Ctrl-C. It has folders of its own, so that neither the cloud of
// whoever runs this nor what they are signed in to is touched.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const LIMIT_MS = 120_000
const GONE_MS = 45_000
const BOT = 'http://localhost:7860'
const CLOUD = 'http://localhost:7870'

const folder = mkdtempSync(join(tmpdir(), 'botcli-start-'))
const { BOTCLI_CLOUD_URL: _url, BOTCLI_API_KEY: _key, ...rest } = process.env
const env = { ...rest, XDG_DATA_HOME: join(folder, 'data'), XDG_CONFIG_HOME: join(folder, 'config') }
const problems = []

await serves()
await refusesTakenPorts()
rmSync(folder, { recursive: true, force: true })
for (const problem of problems) console.error(`npm start: ${problem}`)
if (problems.length === 0) console.log('npm start: bot and cloud served, and stopped')
process.exitCode = problems.length === 0 ? 0 : 1

/** Both are there, the keys are shown once and open the cloud, and all is gone after a Ctrl-C. */
async function serves() {
  const started = start('npm', ['start', '--silent'])
  const page = await firstAnswer(started, `${BOT}/`)
  check(page?.includes('<title>Talk to your bot'), 'the page of the bot is not at the address of the README')
  check((await firstAnswer(started, `${CLOUD}/healthz`))?.includes('"ok"'), 'the cloud does not answer')
  const dashboard = await firstAnswer(started, `${CLOUD}/`)
  check(dashboard?.includes('<title>Your cloud'), 'the dashboard is not at the address of the cloud')
  const key = await firstMatch(started, /sk_\w{43}[\s\S]*pk_\w{43}[\s\S]*Next:/, /sk_\w{43}/)
  check(key !== undefined, 'the first start did not show its keys')
  const builds = await fetch(`${CLOUD}/v1/builds`, { headers: { authorization: `Bearer ${key}` } }).catch(
    () => undefined,
  )
  check(builds?.status === 200, 'the private key that was shown does not open the cloud')
  check(existsSync(join(folder, 'data', 'botcli', 'cloud', 'cloud.db')), 'the data are not where they belong')
  check(existsSync(join(folder, 'config', 'botcli', 'credentials.json')), 'nobody is signed in')
  // A terminal sends the signal to everything in its foreground.
  if (started.child.exitCode === null) process.kill(-started.child.pid, 'SIGINT')
  const [code, signal] = await started.exited
  // npm passes on the signal that it got, whatever its child made of it.
  check(code === 0 || signal === 'SIGINT', `it ended with ${signal ?? `code ${code}`}`)
  for (const url of [`${BOT}/status`, `${CLOUD}/healthz`]) {
    check(await isGone(url), `something still answers at ${url}`)
  }
}

/** Where one of the two has no port, it says which, and the other one does not stay. */
async function refusesTakenPorts() {
  for (const url of [BOT, CLOUD]) {
    const { hostname, port } = new URL(url)
    const other = createServer((_, response) => response.end('taken')).listen(Number(port), hostname)
    await once(other, 'listening')
    const started = start(process.execPath, ['scripts/start.mjs'])
    const [code] = await started.exited
    check(code === 1, `with port ${port} taken it ended with ${code}`)
    check(
      started.text.includes(`Port ${port} on ${hostname} is in use`),
      `it does not say that ${port} is taken`,
    )
    other.closeAllConnections()
    other.close()
    await once(other, 'close')
  }
}

function start(command, argv) {
  const child = spawn(command, argv, { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const started = { child, text: '', exited: once(child, 'exit') }
  for (const [from, to] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ]) {
    from.setEncoding('utf8').on('data', (text) => {
      started.text += text
      to.write(text)
    })
  }
  const deadline = setTimeout(() => {
    problems.push(`it did not serve and stop within ${LIMIT_MS / 1000} seconds`)
    process.kill(-child.pid, 'SIGKILL')
  }, LIMIT_MS)
  child.once('exit', () => clearTimeout(deadline))
  return started
}

async function firstAnswer({ child }, url) {
  while (child.exitCode === null && child.signalCode === null) {
    const response = await fetch(url).catch(() => undefined)
    if (response?.ok) return response.text()
    await pause()
  }
  return undefined
}

async function firstMatch(started, whole, part) {
  while (started.child.exitCode === null && started.child.signalCode === null) {
    if (whole.test(started.text)) return part.exec(started.text)?.[0]
    await pause()
  }
  return undefined
}

/** Npm may end a moment before what it has started. */
async function isGone(url) {
  const deadline = Date.now() + GONE_MS
  while (Date.now() < deadline) {
    if ((await fetch(url).catch(() => undefined)) === undefined) return true
    await pause()
  }
  return false
}

function pause() {
  return new Promise((resolve) => setTimeout(resolve, 300))
}

function check(isRight, problem) {
  if (!isRight) problems.push(problem)
}
