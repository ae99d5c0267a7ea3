import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AgentCloud } from './cloud/agent-cloud.mjs'
import { multiplyAgent } from './cloud/stored-agents.mjs'
import { residentMemory, treeMemory } from './processes.mjs'
import { spread } from './stats.mjs'
import { sleep } from './wait.mjs'

const AGENTS = 100
/** After this long nothing of a start is going on any more. */
const IDLE_MS = 2000

/** What many agents cost that nobody calls, beside a cloud without any. */
export const cloudAgents = {
  title: 'many agents',
  /** @param {import('./main.mjs').Bench} bench */
  async run({ quick, note }) {
    const runs = quick ? 3 : 7
    const folder = await mkdtemp(join(tmpdir(), 'botcli-bench-'))
    try {
      const first = await AgentCloud.start(folder, { agents: { idleSeconds: 0 } })
      const { keys } = first
      await first.stop()
      const bare = await laterStarts(folder, keys, { runs, agents: 0 })
      const instance = await deployOne(folder, keys)
      await multiplyAgent(join(folder, 'data'), 'echo', AGENTS)
      const ours = await laterStarts(folder, keys, { runs, agents: AGENTS })
      const each = ((ours.memory - bare.memory) * 1024) / AGENTS
      note(`agents: one that nobody calls takes ${each.toFixed(0)} KB of the control plane`)
      return [
        {
          name: `botcli cloud, ${AGENTS} agents, memory`,
          unit: 'MB',
          ours: ours.memory,
          bare: bare.memory,
          target: { atMost: 150 },
        },
        {
          name: `botcli cloud, ${AGENTS} agents, serves`,
          unit: 'ms',
          ours: ours.ms,
          bare: bare.ms,
          target: { atMost: 1000 },
        },
        { name: 'instance that waits, memory', unit: 'MB', ours: instance },
      ]
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
}

/** Deploys an agent that has no instance when nobody calls; gives the memory of the one that it had first. */
async function deployOne(folder, keys) {
  const cloud = await AgentCloud.start(folder, { keys })
  try {
    await cloud.deploy('echo', { minAgents: 1, maxAgents: 10 })
    await sleep(IDLE_MS)
    const [instance] = await cloud.instances()
    const memory = treeMemory(await cloud.instancePid(instance))
    await cloud.ask('POST', '/agents/echo', { autoScaling: { minAgents: 0 } })
    await cloud.whenEmpty()
    return memory
  } finally {
    await cloud.leave()
  }
}

/** Starts the cloud some times, and looks what it takes when nobody asks for anything. */
async function laterStarts(folder, keys, { runs, agents }) {
  const times = []
  const memory = []
  for (let run = 0; run < runs; run += 1) {
    const begin = performance.now()
    const cloud = await AgentCloud.start(folder, { keys })
    try {
      const { services } = await cloud.ask('GET', '/agents')
      times.push(performance.now() - begin)
      const ready = services.filter(({ ready }) => ready).length
      if (ready !== agents) throw new Error(`${ready} of ${agents} agents are ready.`)
      await sleep(IDLE_MS)
      memory.push(residentMemory(cloud.pid))
    } finally {
      await cloud.leave()
    }
  }
  return { ms: spread(times).p50, memory: spread(memory).p50 }
}
