import { expect, it, onTestFinished } from 'vitest'
import { HOUSE_RATE, PhoneHouse } from '../../../media/src/testing/phone-house.ts'
import { tone } from '../../../media/src/testing/tone.ts'
import { CloudDouble, KNOWN_PUBLIC_KEY } from '../testing/cloud-double.ts'
import { TypedCommand, typed } from '../testing/typed-command.ts'

/** A cloud with an agent whose phone rings in a house. */
async function setting() {
  const house = await PhoneHouse.open({ began: (voice) => voice.say(tone(HOUSE_RATE, 400)) })
  onTestFinished(() => house.close())
  const cloud = await CloudDouble.start()
  const agent = cloud.agents.add('echo')
  agent.move(agent.newest.id, 'Active')
  cloud.agents.wsUrl = `${house.url.replace(/^http/, 'ws').replace(/\/$/, '')}/secret-token/ws`
  return { house, cloud, agent, env: { ...cloud.env, BOTCLI_PUBLIC_KEY: KNOWN_PUBLIC_KEY } }
}

it('asks the cloud for a session and calls the very address that it gives', async () => {
  const { cloud, agent, env } = await setting()
  const argv = [
    'call',
    '--agent',
    'echo',
    '--as',
    'telephony_b',
    '--body',
    '{"a":1}',
    '--json',
    '--for',
    '4s',
  ]
  const command = new TypedCommand([...argv, '--speech', '300ms'], { env })
  expect(await command.ended).toBe(0)
  expect(command.events[0]).toEqual({
    type: 'session',
    agent: 'echo',
    sessionId: agent.sessions[0]?.sessionId,
  })
  expect(command.events[1]).toMatchObject({ type: 'dialled', url: cloud.agents.wsUrl })
  expect(cloud.agents.starts).toMatchObject([
    { key: KNOWN_PUBLIC_KEY, asked: { transport: 'telephony_b', body: { a: 1 } } },
  ])
})

it('tells why there is nobody to call, and does not take both an agent and an address', async () => {
  const { env } = await setting()
  expect(await typed(['call', '--agent', 'nobody'], { env })).toMatchObject({
    code: 1,
    stderr: 'botcli call: There is no agent nobody.\n',
  })
  const both = await typed(['call', 'http://localhost', '--agent', 'echo'], { env })
  expect(both.stderr).toContain('Give a URL or --agent, not both.')
  expect(both.code).toBe(2)
  expect((await typed(['call', '--key', KNOWN_PUBLIC_KEY], { env })).code).toBe(2)
})

it('tells why a session ended in full, though what closed the call was cut', async () => {
  const { house, agent, env } = await setting()
  const message = `The bot does not serve this: ${'x'.repeat(120)}; add "telephony_a" to its transports.`
  const outcome = { result: 'failed', cause: 'bot_failed', message } as const
  const command = new TypedCommand(['call', '--agent', 'echo', '--speech', '3s', '--for', '20s'], { env })
  await command.see('answered')
  const [session] = agent.sessions
  await house.end(0, outcome)
  if (session) agent.end(session.sessionId, outcome)
  expect(await command.ended).toBe(1)
  expect(command.stderrText).toContain(message)
})
