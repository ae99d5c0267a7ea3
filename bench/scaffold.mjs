import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commandTime } from './command-time.mjs'
import { BOTCLI } from './servers.mjs'
import { spread } from './stats.mjs'

const COMMANDS = [
  ['init', 'quickstart'],
  ['init', '--list-options'],
]
/** The peer's own command line. In some environments its short name belongs to an older program. */
const PEER_ARGS = ['-m', 'pipecat.cli.main']

/** A new project, whole process, beside an empty Node process and beside the peer's command of the same name. */
export const scaffold = {
  title: 'scaffolder',
  /** @param {import('./main.mjs').Bench} bench */
  async run({ quick, peer }) {
    const runs = quick ? 10 : 40
    const peerRuns = quick ? 3 : 10
    const times = COMMANDS.map((args) => ({ args, ours: [], peer: [] }))
    const bare = []
    // In turns, so that whatever else the machine does falls on all of them alike.
    for (let index = 0; index < runs; index += 1) {
      bare.push(await timeInFreshFolder(process.execPath, ['-e', '0']))
      for (const { args, ours } of times) {
        ours.push(await timeInFreshFolder(process.execPath, [BOTCLI, ...args]))
      }
      if (peer === undefined || index >= peerRuns) continue
      for (const { args, peer: list } of times) {
        list.push(await timeInFreshFolder(peer.python, [...PEER_ARGS, ...args]))
      }
    }
    return times.flatMap(({ args, ours, peer: theirs }) =>
      ['p50', 'p95'].map((rank) => ({
        name: `botcli ${args.join(' ')}, ${rank}`,
        unit: 'ms',
        ours: spread(ours)[rank],
        bare: spread(bare)[rank],
        ...(theirs.length === 0 ? {} : { peer: spread(theirs)[rank] }),
        ...(rank === 'p50' ? { target: { bareShare: 2 } } : {}),
      })),
    )
  },
}

/**
 * @param {string} command
 * @param {readonly string[]} args
 */
async function timeInFreshFolder(command, args) {
  const cwd = await mkdtemp(join(tmpdir(), 'botcli-bench-'))
  try {
    return await commandTime(command, args, { cwd })
  } finally {
    await rm(cwd, { recursive: true, force: true })
  }
}
