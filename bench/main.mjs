// Measures the product beside the bare library or socket and beside the peer's runner, and prints one table.
import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { setUpPipecat } from '../scripts/pipecat-venv.mjs'
import { botCall } from './bot-call.mjs'
import { killAll } from './children.mjs'
import { cli } from './cli.mjs'
import { cloudAgents } from './cloud-agents.mjs'
import { cloudCall } from './cloud-call.mjs'
import { cloudLogs } from './cloud-logs.mjs'
import { cloudSessions } from './cloud-sessions.mjs'
import { cloudStart } from './cloud-start.mjs'
import { load, pythonLoad } from './load.mjs'
import { offer } from './offer.mjs'
import { phone } from './phone.mjs'
import { pythonCall } from './python/call.mjs'
import { pythonLink } from './python/link.mjs'
import { pythonMemory } from './python/memory.mjs'
import { pythonUnchanged } from './python/unchanged.mjs'
import { scaffold } from './scaffold.mjs'
import { start } from './start.mjs'
import { formatTable } from './table.mjs'

/**
 * What a benchmark gets.
 * @typedef {object} Bench
 * @property {boolean} quick shorter, and less exact
 * @property {{ python: string, version: string } | undefined} peer
 * @property {(text: string) => void} note a line for below the table
 */

const BENCHES = {
  cli,
  scaffold,
  start,
  offer,
  'bot-call': botCall,
  cpu: load,
  phone,
  'python-link': pythonLink,
  'python-call': pythonCall,
  'python-memory': pythonMemory,
  'python-cpu': pythonLoad,
  'python-unchanged': pythonUnchanged,
  'cloud-start': cloudStart,
  'cloud-logs': cloudLogs,
  'cloud-call': cloudCall,
  'cloud-sessions': cloudSessions,
  'cloud-agents': cloudAgents,
}
const HELP = `Usage: npm run bench -- [options]

  --only NAMES   Run only these, between commas; python and cloud are all that begin with it:
                 ${Object.keys(BENCHES).join(', ')}.
  --quick        Shorter runs, less exact.
  --no-peer      Leave the peer out.
`

const ending = new AbortController()

async function main() {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      quick: { type: 'boolean', default: false },
      'no-peer': { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return console.log(HELP)
  const all = Object.keys(BENCHES)
  const isMeant = (asked, name) => name === asked || name.startsWith(`${asked}-`)
  const asked = values.only?.split(',') ?? all
  const unknown = asked.filter((one) => !all.some((name) => isMeant(one, name)))
  if (unknown.length > 0) throw new Error(`There is no benchmark ${unknown.join(', ')}.\n\n${HELP}`)

  const names = all.filter((name) => asked.some((one) => isMeant(one, name)))

  const found = values['no-peer'] ? { skipped: 'by --no-peer' } : await setUpPipecat(ending.signal)
  const peer = 'python' in found ? found : undefined
  console.log(machine())
  console.log(peer ? `Peer: pipecat-ai ${peer.version}` : `Peer: skipped, ${found.skipped}`)
  const notes = []
  const rows = []
  let failed = false
  for (const name of names) {
    const bench = BENCHES[name]
    const begun = performance.now()
    process.stderr.write(`… ${bench.title}\n`)
    try {
      rows.push(...(await bench.run({ quick: values.quick, peer, note: (text) => notes.push(text) })))
    } catch (error) {
      failed = true
      notes.push(`${name} failed: ${error instanceof Error ? error.message : error}`)
    }
    process.stderr.write(`  ${((performance.now() - begun) / 1000).toFixed(0)} s\n`)
  }
  console.log(`\n${formatTable(rows)}\n`)
  if (rows.some(({ peerOverloaded }) => peerOverloaded)) {
    notes.unshift('* the peer lost sound and the work for it, so its numbers are no measure of a call')
  }
  for (const note of notes) console.log(`- ${note}`)
  console.log(`- load of the machine at the end: ${loadavg()[0].toFixed(1)}`)
  if (failed) process.exitCode = 1
}

function machine() {
  const [first] = cpus()
  return `Machine: ${cpus().length} cores, ${first?.model ?? 'unknown'}; Node ${process.version}; load ${loadavg()[0].toFixed(1)}`
}

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
]) {
  process.on(signal, () => {
    ending.abort()
    killAll()
    process.exit(code)
  })
}
process.on('exit', killAll)

try {
  await main()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
}
