import { commandTime } from './command-time.mjs'
import { BOTCLI } from './servers.mjs'
import { spread } from './stats.mjs'

const COMMANDS = [['--version'], ['--help'], ['run', '--help']]

/** From the start of the command line to its end, beside an empty Node process. */
export const cli = {
  title: 'command line',
  /** @param {import('./main.mjs').Bench} bench */
  async run({ quick }) {
    const runs = quick ? 5 : 20
    const times = new Map(COMMANDS.map((args) => [args, []]))
    const bare = []
    // In turns, so that whatever else the machine does falls on all of them alike.
    for (let index = 0; index < runs; index += 1) {
      bare.push(await commandTime(process.execPath, ['-e', '0']))
      for (const [args, list] of times) list.push(await commandTime(process.execPath, [BOTCLI, ...args]))
    }
    return [...times].flatMap(([args, list]) =>
      ['p50', 'p95'].map((rank) => ({
        name: `botcli ${args.join(' ')}, ${rank}`,
        unit: 'ms',
        ours: spread(list)[rank],
        bare: spread(bare)[rank],
      })),
    )
  },
}
