import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { until } from '../../../runner/src/testing/runner-fixture.ts'
import { CloudHouse } from '../testing/cloud-house.ts'
import { COUNTING_BOTS } from '../testing/counting-bots.ts'
import { CountingCall } from '../testing/counting-call.ts'

// Real processes take their time on a machine that has much to do.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const LANGUAGES = [
  ['typescript', /bot\.ts:\d+/, 'Error: '],
  ['python', /Traceback[\s\S]*bot\.py", line \d+/, 'RuntimeError: '],
] as const

let house: CloudHouse
beforeAll(async () => {
  house = await CloudHouse.open()
  const secrets = [{ secretKey: 'FAIL_AT_IMPORT', secretValue: 'certainly' }]
  await house.send('PUT', '/v1/secrets/failing', { secrets })
})
afterAll(() => house.close())

describe.each(LANGUAGES)('a bot in %s', (language, place, error) => {
  let buildId: string
  beforeAll(async () => {
    buildId = await house.build(COUNTING_BOTS[language])
    await house.deployed(language, { buildId, autoScaling: { minAgents: 1, maxAgents: 1 } })
  })

  /** The session is over because of the bot, and its log has the bot's own words. */
  async function expectFailed(sessionId: string, words: string): Promise<void> {
    const { outcome, state } = await house.ended(language, sessionId)
    expect(state).toBe('ended')
    expect(outcome).toMatchObject({ result: 'failed', cause: 'bot_failed' })
    const { stdout, code } = await house.command(['session', 'logs', language, sessionId, '-f'])
    expect(code).toBe(1)
    expect(stdout).toContain(`${error}${words}`)
    expect(stdout).toMatch(place)
  }

  it('that fails at import: the deployment fails with its traceback, and the one before goes on', async () => {
    const call = await CountingCall.begin(house, language)
    onTestFinished(() => call.hangUp())
    const argv = ['deploy', '--agent', language, '--build', buildId, '--secret-set', 'failing']
    const { code, stdout, stderr } = await house.command(argv)
    expect(code).toBe(1)
    const words = `${error}this bot fails at import`
    for (const told of [stdout + stderr, (await house.agent(language)).deployment.failure?.detail ?? '']) {
      expect(told).toContain(words)
      expect(told).toMatch(place)
    }
    const { deployment, currentRevision, available, ready, errors } = await house.agent(language)
    expect(deployment).toMatchObject({
      phase: 'Failed',
      failure: { code: 'DEPLOY-START-FAILED', exitCode: 1 },
    })
    expect(currentRevision.health).toMatchObject({ ready: false, reason: 'StartFailed', lastExitCode: 1 })
    expect({ available, ready }).toEqual({ available: true, ready: false })
    expect(errors).toMatchObject([{ code: 'DEPLOY-START-FAILED' }])
    const log = await house.log(language, `&deploymentId=${deployment.id}`)
    // The line of the traceback, and not the runner's own sentence about it.
    expect(log.filter((entry) => entry.log === words)).toMatchObject([{ source: 'start' }])
    await call.goesOn()
    await call.hangUp()
    expect(await house.ended(language, call.sessionId)).toMatchObject({ completionStatus: 'client_left' })
  })

  it('that fails at the start of a session: the session failed, and the next one is as good as ever', async () => {
    const { status, body } = await house.startSession(language, { fail: 'start' })
    expect(status).toBe(200)
    await CountingCall.join(body.sessionId, body.wsUrl).catch(() => {})
    await expectFailed(body.sessionId, 'this bot fails at the start of a session')
    const next = await CountingCall.begin(house, language)
    await next.goesOn()
    await next.hangUp()
    await house.ended(language, next.sessionId)
  })

  it('that fails in the middle of a call: the session failed, with its words before its end', async () => {
    const call = await CountingCall.begin(house, language)
    await call.goesOn()
    call.ask('crash')
    await expectFailed(call.sessionId, 'this bot fails in the middle')
    await call.hangUp()
    const log = (await house.log(language, `&sessionId=${call.sessionId}`)).map((entry) => entry.log)
    const lines = log.filter((text) => text.startsWith('line '))
    expect(lines).toEqual(lines.map((_, index) => `line ${index + 1} of ${call.sessionId}`))
  })

  /** A request that the bot of a session answers itself, through the public API. */
  async function expectServed(sessionId: string): Promise<void> {
    const path = `/v1/public/${language}/sessions/${sessionId}/some/notes?from=afar`
    const answer = await house.send('POST', path, { note: 'é' }, house.keys.publicKey)
    expect(answer).toMatchObject({ status: 200, body: { path: '/some/notes', body: '{"note":"é"}' } })
  }

  it('goes on with its call, and with answers to requests, while the cloud is killed and comes back', async () => {
    const call = await CountingCall.begin(house, language)
    onTestFinished(() => call.hangUp())
    await call.goesOn()
    await expectServed(call.sessionId)
    await house.kill()
    await call.goesOn()
    await house.start()
    await call.goesOn()
    await expectServed(call.sessionId)
    await call.hangUp()
    expect(call.isComplete).toBe(true)
    expect(await house.ended(language, call.sessionId)).toMatchObject({ completionStatus: 'client_left' })
    const log = (await house.log(language, `&sessionId=${call.sessionId}`)).map((entry) => entry.log)
    const lines = log.filter((text) => text.startsWith('line '))
    expect(lines.length).toBeGreaterThan(5)
    expect(lines).toEqual(lines.map((_, index) => `line ${index + 1} of ${call.sessionId}`))
  })

  it('goes on with a phone call while the cloud is killed and comes back', async () => {
    const calling = house.command(['call', '--agent', language, '--as', 'telephony_a', '--for', '8s'])
    const { sessionId } = await until(
      async () => (await house.sessions(language)).find(({ state }) => state === 'active'),
      'the call',
    )
    await house.restart()
    expect(await calling).toMatchObject({ code: 0 })
    expect((await house.ended(language, sessionId)).outcome).toMatchObject({ result: 'ok' })
  })
})
