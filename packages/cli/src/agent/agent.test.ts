import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { CloudDouble } from '../testing/cloud-double.ts'
import { KEYS, PseudoTerminal } from '../testing/pseudo-terminal.ts'
import { TypedCommand, typed } from '../testing/typed-command.ts'
import { parseSince } from './log-options.ts'

const BIN = fileURLToPath(new URL('../../bin/botcli.js', import.meta.url))

/** A cloud with an agent that takes sessions. */
async function setting() {
  const cloud = await CloudDouble.start()
  const agent = cloud.agents.add('echo', 'local', { image: 'x:1' })
  agent.move(agent.newest.id, 'Active')
  const run = (...argv: readonly string[]) => typed(['agent', ...argv], { env: cloud.env })
  return { cloud, agents: cloud.agents, agent, run, env: cloud.env }
}

describe('botcli agent list and get', () => {
  it('say where agents stand', async () => {
    const { agents, agent, run } = await setting()
    agent.session()
    agents.add('new-one')
    const broken = agents.add('broken')
    const detail = 'Traceback:\n  File "bot.py"\nValueError: no'
    const failure = { code: 'DEPLOY-START-FAILED', message: 'It ended.', detail, exitCode: 1 }
    broken.move(broken.newest.id, 'Failed', failure)
    const { stdout, code } = await run('list')
    expect(stdout.replaceAll(/\S+ \S+ UTC/g, 'then')).toBe(
      [
        'NAME     STATE     SESSIONS  DEPLOYMENT  UPDATED',
        'echo     ready     1         1           then',
        'new-one  starting  0         -           then',
        'broken   failed    0         -           then',
        '',
      ].join('\n'),
    )
    expect(code).toBe(0)
    expect((await run('get', 'broken')).stdout).toContain('    File "bot.py"\n  ValueError: no\n')
    const shown = (await run('get', 'echo')).stdout
    expect(shown).toMatch(/^name +echo\nstate +ready\n/)
    expect(shown).toContain('image x:1 (deployment 1, create)')
    expect(JSON.parse((await run('get', 'echo', '--json')).stdout)).toEqual(agent.details)
    const none = await run('get', 'nobody')
    expect(none).toMatchObject({ code: 1, stderr: 'botcli agent get: There is no agent nobody.\n' })
  })

  it('tell an update that goes on from one that failed', async () => {
    const { agent, run } = await setting()
    const { id } = agent.deploy('update', {})
    expect((await run('list')).stdout).toContain('updating')
    agent.move(id, 'Failed')
    expect((await run('list')).stdout).toContain('update failed')
  })

  it('show what runs beside what failed, and why it failed once', async () => {
    const { agents, agent, run } = await setting()
    const { id } = agent.deploy('promote', { image: 'x:2' })
    expect((await run('get', 'echo')).stdout).toMatch(
      /^runs +image x:1 \(deployment 1, create\)\nnewest +image x:2 \(deployment 2, promote\), which is not active yet$/m,
    )
    const failure = { code: 'DEPLOY-START-FAILED', message: 'It ended.', detail: null, exitCode: 1 }
    agent.move(id, 'Failed', failure)
    const { stdout } = await run('get', 'echo')
    expect(stdout).toMatch(
      /^runs +image x:1 \(deployment 1, create\)\nnewest +image x:2 \(deployment 2, promote\), which failed$/m,
    )
    expect(stdout.match(/It ended\./g)).toHaveLength(1)
    const broken = agents.add('broken', 'local', { image: 'y:1' })
    broken.move(broken.newest.id, 'Failed', failure)
    expect((await run('get', 'broken')).stdout).toMatch(
      /^runs +nothing\nnewest +image y:1 .*, which failed$/m,
    )
  })

  it('say what to do where there is none', async () => {
    const cloud = await CloudDouble.start()
    const { stdout } = await typed(['agent', 'list'], { env: cloud.env })
    expect(stdout).toBe('There are no agents. Make one: botcli deploy\n')
  })
})

describe('botcli agent logs', () => {
  it('shows the newest entries, the oldest of them first, and filters', async () => {
    const { agent, run } = await setting()
    const { sessionId } = agent.session()
    agent.log('one', { timestamp: '2026-01-02T03:04:05.678Z', level: 'debug' })
    agent.log('two\n  more', { sessionId, level: 'error', timestamp: '2026-01-02T03:04:06Z' })
    agent.log('three', { source: 'start', deploymentId: agent.newest.id })
    const short = sessionId.slice(0, 8)
    const all = await run('logs', 'echo', '-n', '10')
    expect(all.stdout.split('\n').slice(0, 3)).toEqual([
      '2026-01-02T03:04:05Z  debug  -         one',
      `2026-01-02T03:04:06Z  error  ${short}  two`,
      '                                         more',
    ])
    const texts = async (...argv: readonly string[]) => {
      const { stdout } = await run('logs', 'echo', '--json', ...argv)
      return (JSON.parse(stdout) as { logs: { log: string }[] }).logs.map(({ log }) => log[1])
    }
    expect(await texts('-n', '2')).toEqual(['w', 'h'])
    expect(await texts('--session', short)).toEqual(['w'])
    expect(await texts('--deployment', '1')).toEqual(['h'])
    expect(await texts('--level', 'info')).toEqual(['w', 'h'])
    expect(await texts('--source', 'start')).toEqual(['h'])
    expect(await texts('--query', 'one')).toEqual(['n'])
    expect(await texts('--since', '1h')).toEqual(['h'])
    expect((await run('logs', 'echo', '-n', '2')).stderr).toBe('(1 older: -n shows more of them)\n')
  })

  it('follows, over connections that break, until Ctrl-C', async () => {
    const { agent, env } = await setting()
    agent.log('one')
    const command = new TypedCommand(['agent', 'logs', '-f', 'echo'], { env })
    await command.see('one')
    agent.cut()
    await command.see('connected again')
    agent.log('two')
    await command.see('two')
    command.emit('SIGINT')
    expect(await command.ended).toBe(130)
    expect(command.stdoutText.match(/one|two/g)).toEqual(['one', 'two'])
  })

  it('follows until the agent is removed, and says so', async () => {
    const { agent, env, run } = await setting()
    agent.log('one')
    const command = new TypedCommand(['agent', 'logs', '-f', 'echo'], { env })
    const machine = new TypedCommand(['agent', 'logs', '-f', 'echo', '--json'], { env })
    await Promise.all([command.see('one'), machine.see('one')])
    await run('delete', 'echo', '--yes')
    expect(await Promise.all([command.ended, machine.ended])).toEqual([0, 0])
    expect(command.stderrText).toBe('(the agent was removed, and its log with it)\n')
    expect(machine.stdoutText).toMatch(/"type":"removed"\}\n$/)
  })

  it('fails when the agent is gone once the connection is back', async () => {
    const { agents, agent, env } = await setting()
    agent.log('one')
    const command = new TypedCommand(['agent', 'logs', '-f', 'echo'], { env })
    await command.see('one')
    agents.agents.delete('echo')
    agent.cut()
    expect(await command.ended).toBe(1)
    expect(command.stderrText).toContain('There is no agent echo.')
  })

  it('shows all of the log of another agent that has the name once the connection is back', async () => {
    const { agents, agent, env } = await setting()
    for (const text of ['one', 'two', 'three']) agent.log(text)
    const command = new TypedCommand(['agent', 'logs', '-f', 'echo'], { env })
    await command.see('three')
    const other = agents.add('echo')
    for (const text of ['four', 'five', 'six', 'seven']) other.log(text)
    agent.cut()
    await command.see('seven')
    expect(command.stderrText).toContain('this is the log of the one that has its name now')
    command.emit('SIGINT')
    expect(await command.ended).toBe(130)
    const words = command.stdoutText.match(/one|two|three|four|five|six|seven/g)
    expect(words).toEqual(['one', 'two', 'three', 'four', 'five', 'six', 'seven'])
  })

  it.each([
    ['90s', 10],
    ['1m', 40],
    ['1970-01-01T00:00:30Z', 30],
    ['1970-01-01', 0],
  ])('understands --since %s', (text, expected) => {
    expect(parseSince(text, 100_000)).toBe(expected)
  })

  it.each(['', 'yesterday', '5', '5w', '2026-99-99'])('does not understand --since %j', (text) => {
    expect(() => parseSince(text, 100_000)).toThrow('must be a length of time')
  })
})

describe('botcli agent rollback and promote', () => {
  it('go back by number, by the beginning of an id, or to the one before, and follow', async () => {
    const { agent, run } = await setting()
    const first = agent.newest
    agent.move(agent.deploy('update', { image: 'x:2' }).id, 'Active')
    const { code, stderr } = await run('rollback', 'echo')
    expect(stderr).toContain('Deployment 3 of echo takes sessions')
    expect(code).toBe(0)
    expect(agent.newest).toMatchObject({ reason: 'rollback', image: 'x:1', sourceDeploymentId: first.id })
    expect((await run('rollback', 'echo', '2')).code).toBe(0)
    expect(agent.newest).toMatchObject({ number: 4, image: 'x:2' })
    expect((await run('rollback', 'echo', first.id.slice(0, 9))).code).toBe(0)
    expect(agent.newest).toMatchObject({ number: 5, image: 'x:1' })
    expect(await run('rollback', 'echo', '99')).toMatchObject({
      code: 1,
      stderr: 'botcli agent rollback: echo has no deployment 99. See: botcli agent deployments echo\n',
    })
    expect((await run('rollback', 'echo', 'zz')).code).toBe(2)
    const { stdout } = await run('deployments', 'echo', '-n', '2')
    expect(stdout).toMatch(/^NUMBER +ID +PHASE +REASON +RUNS +CREATED\n5 +\S+ +Active +rollback +image x:1 /)
  })

  it('end with 1 when it fails', async () => {
    const { agents, agent, run } = await setting()
    agent.move(agent.deploy('update', { image: 'x:2' }).id, 'Active')
    agents.onDeployment = (_, { id }) =>
      agent.move(id, 'Failed', { code: 'DEPLOY-START-FAILED', message: 'No.', detail: null, exitCode: 1 })
    const { code, stderr } = await run('rollback', 'echo')
    expect(stderr).toContain('Deployment 2 still takes sessions.')
    expect(code).toBe(1)
  })

  it('let one agent run what another does', async () => {
    const { agents, run } = await setting()
    const other = agents.add('live', 'local', { image: 'y:1' })
    other.move(other.newest.id, 'Active')
    expect((await run('promote', 'echo', 'live')).code).toBe(0)
    expect(other.newest).toMatchObject({ reason: 'promote', image: 'x:1' })
    const missing = await run('promote', 'echo', 'nobody')
    expect(missing.stderr).toContain('botcli deploy --agent nobody --image x:1')
    expect(missing.code).toBe(1)
    const same = await run('promote', 'echo', 'echo')
    expect(same.stderr).toContain('FROM and TO must be two agents')
    expect(same.code).toBe(2)
  })
})

describe('botcli agent scale and delete', () => {
  it('scales without a new deployment', async () => {
    const { agent, run } = await setting()
    expect((await run('scale', 'echo', '--min', '2', '--max', '3')).stdout).toBe(
      'The scaling of echo is 2 to 3 instances now.\n',
    )
    const again = await run('scale', 'echo', '--min', '2')
    expect(again).toMatchObject({ stdout: 'The scaling of echo is 2 to 3 instances already.\n', stderr: '' })
    expect(await run('scale', 'echo', '--min', '6')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--min 6 is more than echo has at most, which is 3. Give --max, too.'),
    })
    expect((await run('scale', 'echo', '--max', '1')).stderr).toContain('Give --min, too.')
    expect(agent.deployments).toHaveLength(1)
    expect((await run('scale', 'echo')).stderr).toContain('Give --min, --max, or both.')
    expect((await run('scale', 'echo', '--min', '4', '--max', '3')).code).toBe(2)
  })

  it('tells what the cloud warns of', async () => {
    const { cloud, agent, run } = await setting()
    const warning = 'echo will not have its 3 instances.'
    cloud.intercept = () => {
      agent.scaling = { minReplicas: 3, maxReplicas: 5 }
      return [200, { ...agent.details, warning }]
    }
    expect((await run('scale', 'echo', '--min', '3')).stderr).toBe(`${warning}\n`)
    expect((await run('get', 'echo')).stdout).toMatch(/^warning +echo will not have its 3 instances\.$/m)
  })

  it('asks nobody where nobody is', async () => {
    const { agents, run } = await setting()
    const refused = await run('delete', 'echo')
    expect(refused.stderr).toContain('give --yes')
    expect(refused.code).toBe(2)
    expect(agents.agents.size).toBe(1)
    expect(await run('delete', 'echo', '--yes')).toMatchObject({ code: 0, stdout: 'Removed echo.\n' })
    expect(agents.agents.size).toBe(0)
  })

  it('asks for the name on a terminal, which shows', async () => {
    const { agents, env } = await setting()
    const ask = async (...keys: readonly string[]) => {
      const terminal = new PseudoTerminal([process.execPath, BIN, 'agent', 'delete', 'echo'], '/', env)
      onTestFinished(() => terminal.close())
      await terminal.see('Type its name to remove it: ')
      terminal.type(...keys)
      return { code: await terminal.ended, screen: terminal.screen }
    }
    const refused = await ask('echoes', KEYS.enter)
    expect(refused.screen).toContain('remove it: echoes')
    expect(refused.screen).toContain('Nothing was removed.')
    expect(refused.code).toBe(1)
    expect((await ask(KEYS.interrupt)).code).toBe(130)
    expect(agents.agents.size).toBe(1)
    const done = await ask('echx', '\u007f', 'o', KEYS.enter)
    expect(done.screen).toContain('Removed echo.')
    expect(done.code).toBe(0)
  })
})
