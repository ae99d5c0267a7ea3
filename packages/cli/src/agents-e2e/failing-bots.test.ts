import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { CloudHouse } from '../testing/cloud-house.ts'
import { COUNTING_BOTS } from '../testing/counting-bots.ts'
import { CountingCall } from '../testing/counting-call.ts'

const LANGUAGES = [
  ['typescript', /bot\.ts:\d+/, 'Error: '],
  ['python', /Traceback[\s\S]*bot\.py", line \d+/, 'RuntimeError: '],
] as const

let house: CloudHouse
beforeAll(async () => {
  house = await CloudHouse.open()
  const secrets = [{ secretKey: 'FAIL_AT_IMPORT', secretValue: 'certainly' }]
  await house.send('PUT', '/v1/secrets/failing', { secrets })
}, 120_000)
afterAll(() => house.close(), 120_000)

describe.each(LANGUAGES)('a bot in %s that fails', (language, place, error) => {
  let buildId: string
  beforeAll(async () => {
    buildId = await house.build(COUNTING_BOTS[language])
    await house.deployed(language, { buildId, autoScaling: { minAgents: 1, maxAgents: 1 } })
  }, 400_000)

  /** The session is over because of the bot, and its log has the bot's own words. */
  async function expectFailed(sessionId: string, words: string): Promise<void> {
    const { outcome, state } = await house.ended(language, sessionId)
    expect(state).toBe('ended')
    expect(outcome).toMatchObject({ result: 'failed', cause: 'bot_failed' })
    const { stdout, code } = await house.command(['session', 'logs', language, sessionId, '-f'])
    expect(code).toBe(0)
    expect(stdout).toContain(`${error}${words}`)
    expect(stdout).toMatch(place)
  }

  it('at import: the deployment fails with its traceback, and the one before goes on', async () => {
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

  it('at the start of a session: the session failed, and the next one is as good as ever', async () => {
    const { status, body } = await house.startSession(language, { fail: 'start' })
    expect(status).toBe(200)
    await CountingCall.join(body.sessionId, body.wsUrl).catch(() => {})
    await expectFailed(body.sessionId, 'this bot fails at the start of a session')
    const next = await CountingCall.begin(house, language)
    await next.goesOn()
    await next.hangUp()
    await house.ended(language, next.sessionId)
  })

  it('in the middle of a call: the session failed, with its words before its end', async () => {
    const call = await CountingCall.begin(house, language)
    await call.goesOn()
    call.ask('crash')
    await expectFailed(call.sessionId, 'this bot fails in the middle')
    await call.hangUp()
    const log = (await house.log(language, `&sessionId=${call.sessionId}`)).map((entry) => entry.log)
    const lines = log.filter((text) => text.startsWith('line '))
    expect(lines).toEqual(lines.map((_, index) => `line ${index + 1} of ${call.sessionId}`))
    expect(log.findIndex((text) => text.includes('fails in the middle'))).toBeGreaterThan(-1)
  })
})
