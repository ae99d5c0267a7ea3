import { appendFileSync, mkdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { journalFile } from '@botcli/protocol'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { OBSTACLES } from '../engine/obstacle.ts'
import { AgentHouse } from '../testing/agent-house.ts'
import { until } from '../testing/cloud-fixture.ts'
import { FOREIGN_LINE, MADE_HERE, makeHole } from '../testing/rubbish.ts'
import type { ScriptedInstance } from '../testing/scripted-engine.ts'

const WAITS = 'registry.test/waits:1'
let house: AgentHouse
async function open(agents: Readonly<Record<string, unknown>> = {}): Promise<void> {
  house = await AgentHouse.open({ config: { agents: { maxInstances: 1, ...agents } } })
  house.engine.scripts.set(WAITS, { waits: true })
}
afterEach(() => house.close())

const texts = async () => (await house.logs('echo')).map(({ log }) => log)
/** How often the log tells that something was in the way. */
const told = async () => {
  const sentences: ReadonlySet<string> = new Set(Object.values(OBSTACLES))
  return (await texts()).filter((text) => sentences.has(text)).length
}

describe.each([...MADE_HERE, { name: 'a hole', make: makeHole }])('$name in a journal', ({ make }) => {
  it('keeps neither a session nor a place, and is told once', async () => {
    await open()
    await house.deployed('echo', { autoScaling: { minAgents: 0, maxAgents: 1 } })
    const { id, instance } = await house.session('echo')
    const path = join(instance.journalFolder, journalFile(1))
    await until(async () => (await texts()).some((text) => text.includes('is ready')), 'it to be ready')
    rmSync(path)
    make(path)
    instance.crash({ signal: 'SIGKILL' })
    expect((await house.ended('echo', id)).outcome).toMatchObject({ cause: 'instance_lost' })
    expect(await told()).toBe(1)
    expect((await texts()).join('\n')).not.toContain(FOREIGN_LINE.trim())
    // The machine has one place only.
    await house.session('echo')
  })
})

it('a folder in a journal does not keep an instance from becoming ready, nor its words from the log', async () => {
  await open()
  await house.create('echo', { image: WAITS })
  const instance = await until(() => house.engine.running[0], 'an instance')
  for (const number of [0, 2, 5]) mkdirSync(join(instance.journalFolder, journalFile(number)))
  instance.say('before')
  instance.becomeReady()
  await house.phase('echo', 'Active')
  instance.say('after')
  await until(async () => (await texts()).includes('after'), 'its words')
  expect(await texts()).toContain('before')
  expect(await told()).toBe(1)
})

it('a line that is nested too deeply costs nothing but itself', async () => {
  await open()
  await house.deployed('echo')
  const { id, instance } = await house.session('echo')
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
  const time = new Date().toISOString()
  const line = `{"time":"${time}","level":"info","msg":"deep","sessionId":"${id}","extra":${deep}}`
  appendFileSync(join(instance.journalFolder, journalFile(1)), `{"type":"log","line":${line}}\n`)
  instance.say('after')
  await until(async () => (await texts()).includes('after'), 'the line after it')
  expect(await texts()).toContain('deep extra=…')
  instance.endSession(id, 'client_left')
  expect((await house.ended('echo', id)).outcome).toMatchObject({ cause: 'client_left' })
})

/** Answers in the place of an instance, also when that is gone. */
function sitOnSocket(instance: ScriptedInstance, answer: object): void {
  const timers: NodeJS.Timeout[] = []
  const server = createServer((request, response) => {
    if (request.url !== '/instance/events') response.end(JSON.stringify(answer))
    else timers.push(setInterval(() => response.write('\n'), 20))
  }).listen(instance.socketPath)
  onTestFinished(() => {
    for (const timer of timers) clearInterval(timer)
    server.closeAllConnections()
    server.close()
  })
}

it.each([{}, { sessions: 'many' }, { sessions: null }])(
  'what sits on its socket and answers with %j is no instance',
  async (answer) => {
    await open({ startSeconds: 1 })
    await house.create('echo', { image: WAITS })
    const instance = await until(() => house.engine.running[0], 'an instance')
    sitOnSocket(instance, { instanceId: instance.id, pid: 1, ...answer })
    await house.phase('echo', 'Failed')
  },
)

it('an instance whose processes are gone is gone, whoever has its connections and whatever they say', async () => {
  await open()
  await house.create('echo', { image: WAITS, autoScaling: { minAgents: 1, maxAgents: 1 } })
  const instance = await until(() => house.engine.running[0], 'an instance')
  sitOnSocket(instance, { instanceId: instance.id, pid: 1, sessions: [null, 5, { sessionId: {} }] })
  await house.phase('echo', 'Active')
  instance.crash({ signal: 'SIGKILL' })
  await until(() => house.engine.running[0], 'another one in its place')
})
