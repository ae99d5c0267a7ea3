import { randomUUID } from 'node:crypto'
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CloudServer } from './cloud/cloud-server.mjs'
import { follow, getMany } from './cloud/http-load.mjs'
import { lineOf } from './cloud/line.mjs'
import { LOG_BYTES, StoredLogs } from './cloud/stored-logs.mjs'
import { cpuTime, residentMemory } from './processes.mjs'
import { startBare } from './servers.mjs'
import { spread } from './stats.mjs'
import { within } from './wait.mjs'

const LIMITS = [500, 10_000]
const CONNECTIONS = 8
/** Beside a server that sends the same bytes from memory. */
const MOST_TIMES_BARE = 2
const ROUNDS = 7
/** So many pages of this log are asked for one after another. */
const WALKED_LINES = 1_000_000
const WALKED_PAGES = 500
const FOLLOWERS = 200

/** Reading, writing and following the log of a build, through the whole cloud. */
export const cloudLogs = {
  title: 'build logs',
  /** @param {import('./main.mjs').Bench} bench */
  async run({ quick, note }) {
    const folder = await mkdtemp(join(tmpdir(), 'botcli-bench-'))
    const data = join(folder, 'cloud')
    try {
      const keys = await firstStart(data)
      const filled = await fillLogs(folder, data, keys, { quick, note })
      const server = await CloudServer.start(data, keys)
      try {
        return [
          ...filled.rows,
          ...(await readRows(server, folder, filled.logs, { quick, note })),
          ...(await followRows(server, { count: quick ? 300 : 1000, note })),
        ]
      } finally {
        await server.stop()
      }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
}

/** Makes a data folder, and gives the keys to it. */
async function firstStart(data) {
  await mkdir(data)
  await writeFile(join(data, 'cloud.json'), JSON.stringify({ builds: { logBytes: LOG_BYTES } }))
  const server = await CloudServer.start(data)
  await server.stop()
  return server.keys
}

async function fillLogs(folder, data, { organizationId }, { quick, note }) {
  const stored = new StoredLogs(data)
  try {
    const rows = await appendRows(stored, folder, quick ? 400_000 : 2_000_000)
    const logs = []
    const sizes = [10_000, 1_000_000, ...(quick ? [] : [10_000_000])]
    for (const lines of sizes) logs.push({ lines, id: await stored.fill(lines) })
    const ids = logs.map(({ id }) => id)
    await stored.addBuilds(organizationId, ids)
    if (quick)
      note('logs of 10 million lines are left out of quick runs: writing and sealing one takes too long')
    return { rows, logs }
  } finally {
    await stored.close()
  }
}

async function appendRows(stored, folder, lines) {
  const rows = []
  for (const batch of [100, 1000]) {
    const id = randomUUID()
    const seconds = await stored.append(id, { lines, batch })
    await stored.remove(id)
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

async function readRows(server, folder, logs, { quick, note }) {
  const cases = []
  for (const { lines, id } of logs) {
    const path = `/v1/builds/${id}/logs`
    for (const limit of LIMITS) {
      cases.push({
        name: `log limit=${limit} of ${lines} lines`,
        limit,
        addresses: [`${path}?limit=${limit}`],
      })
    }
    if (lines !== WALKED_LINES) continue
    const addresses = await olderPages(server, `${path}?limit=500`)
    cases.push({ name: `log limit=500, ${addresses.length} older pages`, limit: 500, addresses })
  }
  const bare = await startBare('log-server', { args: [await saveBodies(server, folder, cases)] })
  try {
    const rows = []
    for (const { name, limit, addresses } of cases) {
      const count = (limit === 500 ? 21_000 : 1400) / (quick ? 3 : 1)
      const found = await compare([server, bare], { addresses, count })
      rows.push({ name, unit: 'CPU us', ...found, target: { bareShare: MOST_TIMES_BARE } })
    }
    note(`the cloud: ${residentMemory(server.pid).toFixed(0)} MB resident after all reads`)
    return rows
  } finally {
    await bare.stop()
  }
}

/** The addresses of pages, from the newest on to older ones: more than a server keeps in memory. */
async function olderPages(server, address) {
  const addresses = []
  let token
  while (addresses.length < WALKED_PAGES) {
    const older = token === undefined ? address : `${address}&nextToken=${token}`
    addresses.push(older)
    token = (await (await server.ask(older)).json()).nextToken
  }
  return addresses
}

/** Saves all pages for the bare server, and gives the file that lists them. */
async function saveBodies(server, folder, cases) {
  const bodies = []
  for (const address of cases.flatMap(({ addresses }) => addresses)) {
    const file = join(folder, `body-${bodies.length}`)
    await writeFile(file, Buffer.from(await (await server.ask(address)).arrayBuffer()))
    bodies.push([address, file])
  }
  const list = join(folder, 'bodies.json')
  await writeFile(list, JSON.stringify(bodies))
  return list
}

/** Both in turns, so that whatever else the machine does falls on both alike; of some rounds the median counts. */
async function compare([ours, bare], { addresses, count }) {
  const { privateKey: key } = ours.keys
  const costs = { ours: [], bare: [] }
  for (const server of [ours, bare]) await cpuOf(server, { addresses, key, count })
  for (let round = 0; round < ROUNDS; round += 1) {
    const one = { addresses, key, count: Math.ceil(count / ROUNDS) }
    costs.ours.push(await cpuOf(ours, one))
    costs.bare.push(await cpuOf(bare, one))
  }
  return { ours: spread(costs.ours).p50, bare: spread(costs.bare).p50 }
}

/** CPU time of a server for one request, in microseconds. */
async function cpuOf(server, { addresses, key, count }) {
  const urls = addresses.map((address) => server.url + address)
  const before = cpuTime(server.pid)
  await within('answers', getMany(urls, { key, connections: CONNECTIONS, count }), 60_000)
  return (cpuTime(server.pid) - before) / count
}

async function followRows(server, { count, note }) {
  const id = await server.createBuild()
  const delays = []
  let ends = 0
  const followers = Array.from({ length: FOLLOWERS }, () =>
    follow(`${server.url}/v1/builds/${id}/logs`, server.keys.privateKey, (text) => {
      const now = process.hrtime.bigint()
      for (const [, at] of text.matchAll(/"at (\d+)\."/g)) delays.push(Number(now - BigInt(at)) / 1e6)
      if (text.includes('event: end')) ends += 1
    }),
  )
  await within('followers', Promise.all(followers.map(({ opened }) => opened)), 30_000)
  const before = cpuTime(server.pid)
  const begin = performance.now()
  server.tick({ count, everyMs: 10 })
  await within('the streams to end', Promise.all(followers.map(({ ended }) => ended)), 60_000)
  const cores = (cpuTime(server.pid) - before) / 1000 / (performance.now() - begin)
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
