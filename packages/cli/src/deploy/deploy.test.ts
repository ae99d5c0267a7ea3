import { describe, expect, it } from 'vitest'
import { CloudDouble, type DoubleBuild } from '../testing/cloud-double.ts'
import type { DoubleAgent } from '../testing/double-agent.ts'
import { folderWith, type Tree } from '../testing/folder.ts'
import { TypedCommand, typed } from '../testing/typed-command.ts'

const PROJECT = {
  Dockerfile: 'FROM x\n',
  'bot.py': 'print()',
  'deploy.toml': 'agent_name = "my-bot"\n[scaling]\nmin_agents = 1\nmax_agents = 4\n',
}
const TRACEBACK = 'Traceback (most recent call last):\n  File "bot.py", line 1\nKeyError: \'OPENAI_API_KEY\''
const FAILURE = {
  code: 'DEPLOY-START-FAILED',
  message: 'The bot ended when it was started.',
  detail: TRACEBACK,
  exitCode: 1,
}

function succeed(build: DoubleBuild): void {
  build.log('STEP 1: FROM x')
  build.finish('success')
}

/** A cloud, and a project to deploy to it. */
async function setting(tree: Tree = PROJECT) {
  const cloud = await CloudDouble.start()
  cloud.onBuild = succeed
  return { cloud, agents: cloud.agents, env: cloud.env, cwd: await folderWith(tree) }
}

/** The agent of that name, as it has to be there. */
function agentOf({ agents }: CloudDouble, name = 'my-bot'): DoubleAgent {
  const found = agents.agents.get(name)
  if (found === undefined) throw new Error(`there is no agent ${name}`)
  return found
}

describe('botcli deploy', () => {
  it('builds, makes the agent, follows its start, and says what to do next', async () => {
    const { cloud, env, cwd } = await setting()
    const { code, stdout, stderr } = await typed(['deploy'], { env, cwd })
    expect(stderr).toContain(`Deploying my-bot to ${cloud.url}, region local (a new agent)\n`)
    expect(stderr).toMatch(/Deployment 1 of my-bot is made of build [0-9a-f]{8}\./)
    expect(stderr).toMatch(/Deployment 1 of my-bot takes sessions after .* s\.\n/)
    expect(stderr).toContain('  talk   botcli session start my-bot --open\n')
    expect(stderr).toContain(`  start  POST ${cloud.url}/v1/public/my-bot/start (with a public key)\n`)
    expect(stdout).toMatch(/^STEP 1: FROM x\n\d\d:\d\d:\d\d {2}info {3}the bot is loaded\n$/)
    expect(code).toBe(0)
    const [build] = cloud.builds.keys()
    expect(agentOf(cloud).details).toMatchObject({
      autoScaling: { minReplicas: 1, maxReplicas: 4 },
      deployment: { buildId: build, phase: 'Active' },
    })
  })

  it('tells programs the same, line by line, the outcome last', async () => {
    const { cloud, env, cwd } = await setting()
    const command = new TypedCommand(['deploy', '--json'], { env, cwd })
    expect(await command.ended).toBe(0)
    expect(command.stderrText).toBe('')
    const types = command.events.map(({ type }) => type)
    expect(types.filter((type) => type !== 'phase')).toEqual([
      ...['deploy', 'context', 'uploaded', 'build', 'log', 'end', 'built'],
      ...['deployment', 'agent-log', 'outcome'],
    ])
    expect(command.events.at(-1)).toMatchObject({
      status: 'active',
      changed: true,
      startUrl: `${cloud.url}/v1/public/my-bot/start`,
      deployment: { number: 1 },
    })
  })

  it('says that nothing has changed, takes the build of before, and --force deploys all the same', async () => {
    const { cloud, env, cwd } = await setting()
    await typed(['deploy'], { env, cwd })
    const again = await typed(['deploy'], { env, cwd })
    expect(again.stderr).toContain('The same files were built before')
    expect(again.stderr).toContain('Nothing has changed. Deployment 1 of my-bot takes sessions.')
    expect(again.code).toBe(0)
    const scaled = await typed(['deploy', '--max', '9'], { env, cwd })
    expect(scaled.stderr).toContain('my-bot has 1 to 9 instances now; nothing else has changed.')
    expect(agentOf(cloud).deployments).toHaveLength(1)
    const forced = await typed(['deploy', '--force'], { env, cwd })
    expect(forced.stderr).toContain('Deployment 2 of my-bot takes sessions')
    expect(cloud.builds.size).toBe(1)
  })

  it('does not call it a success when what did not change is what failed', async () => {
    const { cloud, agents, env, cwd } = await setting()
    agents.onDeployment = (agent, { id }) => agent.move(id, 'Failed', FAILURE)
    expect((await typed(['deploy'], { env, cwd })).code).toBe(1)
    const again = await typed(['deploy'], { env, cwd })
    expect(again.stderr).toContain("KeyError: 'OPENAI_API_KEY'")
    expect(again.code).toBe(1)
    expect(agentOf(cloud).deployments).toHaveLength(1)
  })

  it("ends with 1 and the bot's own traceback when it does not start, and says who takes sessions", async () => {
    const { cloud, agents, env, cwd } = await setting()
    await typed(['deploy'], { env, cwd })
    agents.onDeployment = (agent, { id }) => {
      agent.move(id, 'Validating')
      agent.log(TRACEBACK, { source: 'start', level: 'error', deploymentId: id })
      agent.move(id, 'Failed', FAILURE)
    }
    const { code, stdout, stderr } = await typed(['deploy', '--force'], { env, cwd })
    expect(code).toBe(1)
    expect(stdout).toMatch(/error {2}Traceback \(most recent call last\):\n {17} {2}File "bot\.py", line 1\n/)
    expect(stderr).toMatch(/Deployment 2 of my-bot failed after .* s \[DEPLOY-START-FAILED\]\.\n/)
    expect(stderr).toContain('  why  The bot ended when it was started.\n')
    expect(stderr).toContain("  KeyError: 'OPENAI_API_KEY'\n")
    expect(stderr).toContain('botcli agent logs my-bot --deployment 2')
    expect(stderr).toMatch(/Deployment 1 still takes sessions\.\n$/)
    agentOf(cloud).isDown = true
    const down = await typed(['deploy', '--force'], { env, cwd })
    expect(down.stderr).toContain('(it takes no sessions now)')
    expect(down.stderr).toMatch(
      /No deployment of my-bot takes sessions: none of the instances of the one before works, either\.\n {2}see {2}botcli agent get my-bot\n$/,
    )
    agentOf(cloud).move(agentOf(cloud).deployments[2]?.id ?? '', 'Retired')
    const alone = await typed(['deploy', '--force'], { env, cwd })
    expect(alone.stderr).toMatch(/No deployment of my-bot takes sessions\.\n$/)
  })

  it('deploys nothing when the build fails', async () => {
    const { cloud, agents, env, cwd } = await setting()
    cloud.onBuild = (build) =>
      build.finish('failed', { code: 'install_failed', step: null, line: 1, hint: 'x' })
    const { code, stderr } = await typed(['deploy'], { env, cwd })
    expect(code).toBe(1)
    expect(stderr).toMatch(/\[install_failed\](?:.|\n)*Nothing was deployed\.\n$/)
    expect(agents.agents.size).toBe(0)
    const command = new TypedCommand(['deploy', '--json'], { env, cwd })
    expect(await command.ended).toBe(1)
    expect(command.events.at(-1)).toMatchObject({ type: 'outcome', status: 'not_built' })
  })

  it('misses a secret set before it builds, and says how to make it', async () => {
    const toml = `${PROJECT['deploy.toml']}`.replace('[', 'secret_set = "my-secrets"\n[')
    const { cloud, env, cwd } = await setting({ 'server/deploy.toml': toml, 'server/Dockerfile': 'FROM x' })
    const { code, stderr } = await typed(['deploy'], { env, cwd })
    expect(stderr).toBe(
      'botcli deploy: There is no secret set my-secrets, so nothing was built. Make it, then deploy again: botcli secrets set my-secrets --file server/.env\n',
    )
    expect(code).toBe(1)
    expect(cloud.builds.size).toBe(0)
    await typed(['secrets', 'set', 'my-secrets', 'A=b'], { env, cwd })
    expect((await typed(['deploy'], { env, cwd })).code).toBe(0)
    expect(agentOf(cloud).newest.secretSet).toBe('my-secrets')
    expect((await typed(['deploy', '--no-secret-set'], { env, cwd })).code).toBe(0)
    expect(agentOf(cloud).newest.secretSet).toBeNull()
  })

  it('goes by the command line before the file', async () => {
    const { cloud, agents, env, cwd } = await setting()
    const build = cloud.addBuild()
    build.finish('success')
    const { id } = build.record
    const options = ['--agent', 'other', '--build', id.slice(0, 8), '--profile', 'agent-2x', '--min', '0']
    expect((await typed(['deploy', ...options], { env, cwd })).code).toBe(0)
    expect(agents.asked).toEqual([
      {
        ...{ serviceName: 'other', region: 'local', buildId: id, agentProfile: 'agent-2x' },
        autoScaling: { minAgents: 0, maxAgents: 4 },
      },
    ])
    expect((await typed(['deploy', '--image', 'registry.test/x:1', '-d'], { env, cwd })).code).toBe(0)
    expect(agentOf(cloud).newest).toMatchObject({ image: 'registry.test/x:1', buildId: null })
    expect(cloud.builds.size).toBe(1)
  })

  it.each([
    [['--min', '5'], 'There cannot be at least 5 and at most 4 instances'],
    [['--image', 'x', '--build', 'abcd'], '--image and --build cannot both be given.'],
    [['--agent', 'No'], '--agent must be 2 to 54 lower case letters'],
    [['--wait', 'long'], '--wait must be from 1s to 1440m'],
    [['--build', 'xyz'], 'ID must be the id of a build'],
    [['nowhere'], 'There is no folder nowhere.'],
  ])('%j is refused', async (argv, message) => {
    const { env, cwd } = await setting()
    const { code, stderr } = await typed(['deploy', ...argv], { env, cwd })
    expect(stderr).toContain(message)
    expect(code).toBe(2)
  })

  it.each([
    [{ Dockerfile: 'FROM x' }, 'There is no deploy.toml in '],
    [{ Dockerfile: 'FROM x', 'deploy.toml': 'region = "x"' }, 'deploy.toml has no agent_name.'],
  ])('needs a name (%j)', async (tree, message) => {
    const { env, cwd } = await setting(tree)
    const { code, stderr } = await typed(['deploy'], { env, cwd })
    expect(stderr).toContain(message)
    expect(code).toBe(2)
  })

  it('does not move an agent to another region', async () => {
    const { cloud, env, cwd } = await setting()
    cloud.agents.add('my-bot', 'far')
    const { code, stderr } = await typed(['deploy', '--region', 'near'], { env, cwd })
    expect(stderr).toContain('my-bot is in the region far and cannot move to near.')
    expect(code).toBe(1)
    expect(cloud.builds.size).toBe(0)
    expect((await typed(['deploy'], { env, cwd })).code).toBe(0)
    expect([...cloud.builds.values()][0]?.record.region).toBe('far')
  })

  it('leaves a roll-out alone on Ctrl-C, and says how to watch it', async () => {
    const { cloud, agents, env, cwd } = await setting()
    agents.onDeployment = (agent, { id }) => agent.log('starting', { source: 'start', deploymentId: id })
    const command = new TypedCommand(['deploy'], { env, cwd })
    await command.see('starting')
    command.emit('SIGINT')
    expect(await command.ended).toBe(130)
    expect(command.stderrText).toContain('The roll-out goes on without you.')
    expect(agentOf(cloud).newest.phase).toBe('Creating')
  })

  it('cancels a build on Ctrl-C, and deploys nothing', async () => {
    const { cloud, agents, env, cwd } = await setting()
    cloud.onBuild = (build) => build.log('slow')
    const command = new TypedCommand(['deploy'], { env, cwd })
    await command.see('slow')
    command.emit('SIGINT')
    expect(await command.ended).toBe(130)
    expect(command.stderrText).toContain('was cancelled')
    expect(agents.agents.size).toBe(0)
  })

  it('does not wait for ever, and says what it waited for', async () => {
    const { agents, env, cwd } = await setting()
    agents.onDeployment = (agent, { id }) => agent.move(id, 'Validating')
    const { code, stderr } = await typed(['deploy', '--wait', '1s'], { env, cwd })
    expect(stderr).toMatch(
      /Deployment 1 of my-bot does not take sessions after .* s: its first instance is being started\.\nIt goes on without you\.\n/,
    )
    expect(code).toBe(1)
  })

  it('goes on when connections break, and shows each entry once', async () => {
    const { cloud, agents, env, cwd } = await setting()
    agents.onDeployment = (agent, { id }) => agent.log('one', { source: 'start', deploymentId: id })
    const command = new TypedCommand(['deploy'], { env, cwd })
    await command.see('one')
    const agent = agentOf(cloud)
    const { id: deploymentId } = agent.newest
    let broken = 3
    cloud.intercept = (request, response) => {
      if (!request.url?.includes('/agents/') || broken-- <= 0) return undefined
      response.destroy()
      return undefined
    }
    agent.cut()
    await command.see('connected again')
    agent.log('two', { source: 'start', deploymentId })
    agent.move(deploymentId, 'Active')
    expect(await command.ended).toBe(0)
    expect(command.stdoutText.match(/one|two/g)).toEqual(['one', 'two'])
  })

  it.each(['Retired', 'Failed'] as const)(
    'is no success when a later deployment came (%s)',
    async (phase) => {
      const { agents, env, cwd } = await setting()
      agents.onDeployment = (agent, { id }) => {
        agents.onDeployment = () => {}
        const later = agent.deploy('update', {})
        agent.move(id, phase, { code: 'DEPLOY-SUPERSEDED', message: 'x', detail: null, exitCode: null })
        agent.move(later.id, 'Active')
      }
      const { code, stderr } = await typed(['deploy'], { env, cwd })
      expect(stderr).toContain('Deployment 1 of my-bot was replaced by deployment 2')
      expect(code).toBe(1)
    },
  )
})
