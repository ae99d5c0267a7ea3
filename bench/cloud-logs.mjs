import { randomUUID } from 'node:crypto'
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Child } from './children.mjs'
import { follow, getMany } from './cloud/http-load.mjs'
import { lineOf } from './cloud/line.mjs'
import { Server, startBare } from './servers.mjs'
import { spread } from './stats.mjs'
import { within } from './wait.mjs'

const LIMITS = [500, 10_000]
const CONNECTIONS = 8
/** Beside a server that sends the same bytes from memory. */
const MOST_TIMES_BARE = 2
const FOLLOWERS = 200

/** Reading, writing and following the log of a build. */
export const cloudLogs = {
  title: 'build logs',
  /** @param {import('./main.mjs').Bench} bench */
  async run({ quick, note }) {
    const folder = await mkdtemp(join(tmpdir(), 'bench-logs-'))
    const server = await startLogServer(join(folder, 'logs'))
    try {
      return [
        ...(await appendRows(server, folder, quick ? 400_000 : 2_000_000)),
        ...(await readRows(server, folder, { quick, note })),
        ...(await followRows(server, { count: quick ? 300 : 1000, note })),
      ]
    } finally {
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    }
  },
}

/** @param {string} folder */
async function startLogServer(folder) {
  const script = fileURLToPath(new URL('cloud/log-server.mjs', import.meta.url))
  const child = new Child(process.execPath, [script, folder])
  return new Server(child, await child.line((line) => JSON.parse(line).url))
}

async function appendRows(server, folder, lines) {
  const rows = []
  for (const batch of [100, 1000]) {
    const { seconds } = await ask(server, 'fill', { lines, batch })
    rows.push({
      name: `log appends, batches of ${batch}`,
      unit: 'lines/s',
      ours: lines / seconds,
      bare: lines / secondsToWrite(join(folder, 'bare'), lines, batch),
      moreIsBetter: true,
      target: { atLeast: 300_000 },
    })
  }
  return rows
}

/** How long it takes to write ready bytes, a call a batch. */
function secondsToWrite(path, lines, batch) {
  const bytes = Buffer.from(Array.from({ length: batch }, (_, index) => `"${lineOf(index)}",\n`).join(''))
  const file = openSync(path, 'w')
  const begin = performance.now()
  for (let done = 0; done < lines; done += batch) writeSync(file, bytes)
  fdatasyncSync(file)
  const seconds = (performance.now() - begin) / 1000
  closeSync(file)
  return seconds
}

async function readRows(server, folder, { quick, note }) {
  const rows = []
  for (const lines of [10_000, 1_000_000, 10_000_000]) {
    const { id } = await ask(server, 'fill', { lines, batch: 1000 })
    const urls = LIMITS.map((limit) => `${server.url}/v1/builds/${id}/logs?limit=${limit}`)
    const files = await Promise.all(urls.map((url, index) => save(url, join(folder, `body-${index}`))))
    const bare = await startBare('log-server', { args: files })
    try {
      for (const [index, limit] of LIMITS.entries()) {
        const count = (limit === 500 ? 21_000 : 1400) / (quick ? 3 : 1)
        const found = await compare(
          { server, url: urls[index] },
          { server: bare, url: `${bare.url}/${index}` },
          count,
        )
        rows.push({
          name: `log limit=${limit} of ${lines} lines`,
          unit: 'CPU us',
          ...found,
          target: { atMost: Number((MOST_TIMES_BARE * found.bare).toFixed(0)) },
        })
      }
    } finally {
      await bare.stop()
    }
  }
  const { rss } = await ask(server, 'cpu')
  note(`log server: ${(rss / 1e6).toFixed(0)} MB resident after all reads`)
  return rows
}

/** Both in turns, so that whatever else the machine does falls on both alike; of some rounds the median counts. */
async function compare(ours, bare, count) {
  const rounds = 7
  const costs = { ours: [], bare: [] }
  for (const one of [ours, bare]) await cpuOf(one, count)
  for (let round = 0; round < rounds; round += 1) {
    costs.ours.push(await cpuOf(ours, count / rounds))
    costs.bare.push(await cpuOf(bare, count / rounds))
  }
  return { ours: spread(costs.ours).p50, bare: spread(costs.bare).p50 }
}

/** CPU time of a server for one request, in microseconds. */
async function cpuOf({ server, url }, count) {
  const whole = Math.ceil(count)
  const before = await ask(server, 'cpu')
  await within('answers', getMany(url, { connections: CONNECTIONS, count: whole }), 60_000)
  const after = await ask(server, 'cpu')
  return (after.us - before.us) / whole
}

async function followRows(server, { count, note }) {
  const id = randomUUID()
  const delays = []
  let ends = 0
  const followers = Array.from({ length: FOLLOWERS }, () =>
    follow(`${server.url}/v1/builds/${id}/logs`, (text) => {
      const now = process.hrtime.bigint()
      for (const [, at] of text.matchAll(/"at (\d+) "/g)) delays.push(Number(now - BigInt(at)) / 1e6)
      if (text.includes('event: end')) ends += 1
    }),
  )
  await within('followers', Promise.all(followers.map(({ opened }) => opened)), 30_000)
  const before = await ask(server, 'cpu')
  const begin = performance.now()
  await ask(server, 'tick', { id, count, everyMs: 10 })
  await within('the streams to end', Promise.all(followers.map(({ ended }) => ended)), 30_000)
  const { us } = await ask(server, 'cpu')
  const cores = (us - before.us) / 1000 / (performance.now() - begin)
  note(
    `followers: ${delays.length} of ${count * FOLLOWERS} lines came, ${ends} of ${FOLLOWERS} streams ended well, ${(cores * 100).toFixed(0)} % of a core`,
  )
  const { p50, p99 } = spread(delays)
  const name = `line to ${FOLLOWERS} followers`
  return [
    { name: `${name}, p50`, unit: 'ms', ours: p50 },
    { name: `${name}, p99`, unit: 'ms', ours: p99, target: { atMost: 50 } },
  ]
}

async function ask(server, command, options = {}) {
  const response = await fetch(`${server.url}/${command}`, {
    ...(command === 'cpu' ? {} : { method: 'POST', body: JSON.stringify(options) }),
    signal: AbortSignal.timeout(300_000),
  })
  return response.json()
}

async function save(url, path) {
  await writeFile(path, Buffer.from(await (await fetch(url)).arrayBuffer()))
  return path
}
