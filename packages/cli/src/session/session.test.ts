import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CloudDouble, DOUBLE_KEY, KNOWN_PUBLIC_KEY } from '../testing/cloud-double.ts'
import { folderWith } from '../testing/folder.ts'
import { TypedCommand, typed } from '../testing/typed-command.ts'

/** A cloud with an agent, and somebody who is signed in to it. */
async function setting(stored: object = {}) {
  const cloud = await CloudDouble.start()
  const agent = cloud.agents.add('echo')
  agent.move(agent.newest.id, 'Active')
  const home = await folderWith({})
  const file = join(home, '.config/botcli/credentials.json')
  await mkdir(join(file, '..'), { recursive: true })
  await writeFile(file, JSON.stringify({ url: cloud.url, key: DOUBLE_KEY, ...stored }), { mode: 0o600 })
  const env = { HOME: home }
  const run = (...argv: readonly string[]) => typed(['session', ...argv], { env })
  const credentials = async () => JSON.parse(await readFile(file, 'utf8')) as { publicKey?: string }
  return { cloud, agents: cloud.agents, agent, env, run, credentials }
}

describe('botcli session start', () => {
  it('asks for a session and shows where to connect and how to follow it', async () => {
    const { cloud, agents, agent, run } = await setting({ publicKey: KNOWN_PUBLIC_KEY })
    const { code, stdout, stderr } = await run('start', 'echo', '--body', '{"plan":"gold"}')
    const [{ sessionId } = { sessionId: '' }] = agent.sessions
    const short = sessionId.slice(0, 8)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.split('\n')).toEqual([
      `session  ${sessionId} (webrtc)`,
      `connect  POST ${cloud.url}/v1/public/echo/sessions/${sessionId}/api/offer`,
      `talk     ${cloud.url}/talk/?agent=echo  (in a browser, with a session of its own)`,
      `logs     botcli session logs -f echo ${short}`,
      `stop     botcli session stop echo ${short}`,
      '',
    ])
    expect(agents.starts).toMatchObject([
      { key: KNOWN_PUBLIC_KEY, asked: { transport: 'webrtc', body: { plan: 'gold' } } },
    ])
    const socket = await run('start', 'echo', '-t', 'websocket', '--json')
    expect(JSON.parse(socket.stdout)).toEqual({
      sessionId: agent.sessions[0]?.sessionId,
      wsUrl: agents.wsUrl,
    })
    expect((await run('start', 'echo', '-t', 'room')).stdout).toContain('room     https://rooms.example/x\n')
  })

  it('makes a public key where none is known, stores it, and takes it again', async () => {
    const { cloud, agents, run, credentials } = await setting()
    const first = await run('start', 'echo')
    expect(first.stderr).toMatch(
      /^Made the public key "botcli" \(pk_.*…\), stored in .*credentials\.json\.\n$/,
    )
    const { publicKey } = await credentials()
    expect((await run('start', 'echo')).stderr).toBe('')
    expect(agents.starts.map(({ key }) => key)).toEqual([publicKey, publicKey])
    expect(cloud.made.size).toBe(1)
    cloud.made.clear()
    expect((await run('start', 'echo')).stderr).toContain('Made the public key')
    expect((await credentials()).publicKey).not.toBe(publicKey)
  })

  it('takes the key of the command line and of the variable before that, and says which is no good', async () => {
    const { agents, env, run } = await setting()
    expect((await run('start', 'echo', '--key', KNOWN_PUBLIC_KEY)).code).toBe(0)
    const withKey = (key: string) =>
      typed(['session', 'start', 'echo'], { env: { ...env, BOTCLI_PUBLIC_KEY: key } })
    expect((await withKey(KNOWN_PUBLIC_KEY)).code).toBe(0)
    expect(agents.starts.map(({ key }) => key)).toEqual([KNOWN_PUBLIC_KEY, KNOWN_PUBLIC_KEY])
    expect((await withKey('pk_unknown_12345')).stderr).toContain('the public key of BOTCLI_PUBLIC_KEY')
    expect((await withKey('sk_private_12345')).stderr).toContain('BOTCLI_PUBLIC_KEY must be a public key')
    expect((await run('start', 'echo', '--key', 'sk_private_12345')).code).toBe(2)
  })

  it('takes the stored key for the stored sign-in only, and a new sign-in keeps it where it is known', async () => {
    const { cloud, env, run, credentials } = await setting({ publicKey: KNOWN_PUBLIC_KEY })
    const other = { ...env, BOTCLI_API_KEY: 'sk_of_another_one' }
    expect((await typed(['session', 'start', 'echo'], { env: other })).stderr).toContain(
      'set BOTCLI_PUBLIC_KEY',
    )
    const login = () => typed(['login', cloud.url, '--key', DOUBLE_KEY], { env })
    await login()
    expect((await credentials()).publicKey).toBeUndefined()
    await run('start', 'echo')
    const { publicKey } = await credentials()
    await login()
    expect(publicKey).toMatch(/^pk_/)
    expect((await credentials()).publicKey).toBe(publicKey)
  })

  it('makes no key for an agent that is not there, and names the one that was meant', async () => {
    const { cloud, run } = await setting()
    expect(await run('start', 'ecko')).toMatchObject({
      code: 1,
      stderr: 'botcli session start: There is no agent ecko. Did you mean echo?\n',
    })
    expect(cloud.made.size).toBe(0)
    expect((await run('start', 'nobody', '--open')).stderr).toBe(
      'botcli session start: There is no agent nobody.\n',
    )
  })

  it('makes no key that it could not store', async () => {
    const { cloud } = await setting()
    const { code, stderr } = await typed(['session', 'start', 'echo'], { env: cloud.env })
    expect(stderr).toContain('set BOTCLI_PUBLIC_KEY, or give it with --key.')
    expect(code).toBe(1)
    expect(cloud.made.size).toBe(0)
  })

  it('tells why the cloud refuses', async () => {
    const { cloud, run } = await setting({ publicKey: KNOWN_PUBLIC_KEY })
    cloud.intercept = (request) =>
      request.url?.endsWith('/start')
        ? [429, { error: 'All 5 sessions of echo are taken.', code: 'DEPLOY-AT-CAPACITY' }]
        : undefined
    expect(await run('start', 'echo')).toMatchObject({
      code: 1,
      stderr: 'botcli session start: All 5 sessions of echo are taken.\n',
    })
    const { stdout } = await run('start', 'echo', '--json')
    expect(JSON.parse(stdout)).toMatchObject({ code: 'DEPLOY-AT-CAPACITY' })
  })
})

describe('botcli session list, get, logs and stop', () => {
  it('list, show and end sessions by the beginnings of their ids', async () => {
    const { agent, run } = await setting()
    expect((await run('list', 'echo')).stdout).toContain('echo has had no sessions.')
    const { sessionId } = agent.session({ transport: 'telephony_a' })
    const short = sessionId.slice(0, 6)
    expect((await run('list', 'echo')).stdout).toMatch(
      new RegExp(`^ID .*\n${sessionId}  active  telephony_a  1           .* UTC  1\\.3 s     -\n$`),
    )
    expect((await run('get', 'echo', short)).stdout).toContain('transport   telephony_a\n')
    const { stdout, code } = await run('stop', 'echo', short)
    expect(stdout).toBe(`Session ${sessionId} ended after 1.3 s [stopped]. It was stopped.\n`)
    expect(code).toBe(0)
    expect((await run('list', 'echo', '--status', 'active')).stdout).toBe('There are no such sessions.\n')
    expect((await run('get', 'echo', short)).stdout).toMatch(/cause +stopped\nwhy +It was stopped\.\n$/)
    expect((await run('get', 'echo', '0000000')).stderr).toContain('None of the newest 1 sessions has an id')
    expect((await run('get', 'echo', 'x')).code).toBe(2)
  })

  it('list the sessions of an agent that was removed, whose deployments are gone', async () => {
    const { agents, agent, run } = await setting()
    const { sessionId, deploymentId } = agent.session({ transport: 'telephony_a' })
    agents.agents.delete('echo')
    agents.removed.set('echo', agent)
    const { code, stdout } = await run('list', 'echo')
    expect(code).toBe(0)
    expect(stdout).toContain(`${sessionId}  active  telephony_a  ${deploymentId.slice(0, 8)}  `)
  })

  it.each([
    [{ result: 'ok', cause: 'client_left', message: 'The caller left.' } as const, 0],
    [{ result: 'failed', cause: 'bot_failed', message: 'The bot failed.' } as const, 1],
  ])('follow the log to the end of the session (%j)', async (outcome, expected) => {
    const { agent, env } = await setting()
    const { sessionId } = agent.session()
    agent.log('of another')
    agent.log('hello', { sessionId })
    const command = new TypedCommand(['session', 'logs', '-f', 'echo', sessionId.slice(0, 8)], { env })
    await command.see('hello')
    agent.log('bye', { sessionId })
    agent.end(sessionId, outcome)
    expect(await command.ended).toBe(expected)
    expect(command.stdoutText).toMatch(/^\S+Z {2}info {3}hello\n\S+Z {2}info {3}bye\n$/)
    expect(command.stderrText).toContain(`[${outcome.cause}]. ${outcome.message}\n`)
  })

  it.each([[[]], [['-f']]])('tell that there is no such session (%j)', async (options) => {
    const { env } = await setting()
    const id = '00000000-0000-4000-8000-000000000000'
    const { code, stdout, stderr } = await typed(['session', 'logs', ...options, 'echo', id], { env })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(`no session ${id}`)
  })
})
