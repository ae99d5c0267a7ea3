import { writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { AgentHouse } from '../testing/agent-house.ts'
import { until } from '../testing/cloud-fixture.ts'
import type { ScriptedInstance } from '../testing/scripted-engine.ts'

const ONE = { autoScaling: { minAgents: 1, maxAgents: 1 } }
/** Starts at the same time, as many as this machine does. */
const TURNS = Math.max(2, availableParallelism())

let house: AgentHouse
afterEach(() => house.close())

/** The instances of an image that run. */
function running(image: string): readonly ScriptedInstance[] {
  return house.engine.running.filter(
    ({ spec: { artifact } }) => artifact.kind === 'image' && artifact.name === image,
  )
}

describe('a machine that is full', () => {
  it('takes no more agents, and never has more than one instance too many', async () => {
    house = await AgentHouse.open({ config: { agents: { maxInstances: 3, idleSeconds: 0 } } })
    const names = ['a', 'b', 'c'].map((name) => `agent-${name}`)
    const sessions = []
    for (const name of names) {
      await house.deployed(name, { ...ONE, image: 'registry.test/old:1' })
      sessions.push(await house.session(name))
    }
    const refused = await house.create('late', ONE)
    expect(refused).toMatchObject({
      status: 429,
      body: {
        code: 'DEPLOY-AT-CAPACITY',
        error: expect.stringMatching(/all 3 instances that it may have \(agents\.maxInstances/),
      },
    })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await house.fixture.request('/v1/agents/late')).toMatchObject({ status: 404 })
    for (const name of names) await house.update(name, { image: 'registry.test/new:1' })
    await house.phase('agent-a', 'Active')
    // The others wait, and say so, until the calls on what they replace are over.
    for (const name of ['agent-b', 'agent-c']) {
      await until(
        async () => (await house.logs(name)).some(({ log }) => log.startsWith('Deployment 2 waits: ')),
        `${name} to wait`,
      )
      expect(await house.agent(name)).toMatchObject({
        ...{ available: true, deployment: { phase: 'Validating' } },
      })
    }
    expect(house.engine.running).toHaveLength(4)
    for (const { id, instance } of sessions) instance.endSession(id)
    for (const name of names) await house.phase(name, 'Active')
    await until(() => house.engine.running.length === 3, 'those of before to be gone')
    expect(running('registry.test/new:1')).toHaveLength(3)
  })

  it('warns of a minimum that it can never have', async () => {
    house = await AgentHouse.open({ config: { agents: { maxInstances: 1 } } })
    expect(await house.deployed('echo', ONE)).not.toHaveProperty('warning')
    const scaled = await house.update('echo', { autoScaling: { minAgents: 3, maxAgents: 5 } })
    const warning = expect.stringMatching(
      /not have its 3 instances: .* at most 1 instance .*agents\.maxInstances/,
    )
    expect(scaled).toMatchObject({ status: 200, body: { warning } })
    expect(await house.agent('echo')).toMatchObject({ warning })
  })

  describe('where one agent has one too many, to replace its own', () => {
    const old = 'registry.test/old:1'
    const zero = { autoScaling: { minAgents: 0, maxAgents: 1 } }

    it('refuses callers of others at once while the replaced one goes: no place becomes free by that', async () => {
      // Who would wait, would wait longer than the test.
      house = await AgentHouse.open({
        config: { agents: { maxInstances: 1, idleSeconds: 0, startSeconds: 600 } },
      })
      await house.deployed('other', zero)
      await until(() => house.engine.running.length === 0, 'its instance to be idle and gone')
      house.engine.scripts.set(old, { lingers: true })
      await house.deployed('main', { ...ONE, image: old })
      await house.update('main', { image: 'registry.test/new:1' })
      const replaced = await until(
        () => running(old).find(({ isStopped }) => isStopped),
        'the old one to be stopped',
      )
      expect(await house.start('other')).toMatchObject({ status: 429 })
      let removed = () => {}
      house.engine.remove = () => new Promise((resolve) => (removed = () => resolve()))
      replaced.crash({ code: 0 })
      await until(async () => (await house.agent('main')).instances.length === 1, 'it to be gone')
      expect(await house.start('other')).toMatchObject({ status: 429 })
      removed()
    })

    it.each(['goes on', 'is started again'])(
      'gives others their places again while the cloud %s',
      async (what) => {
        house = await AgentHouse.open({ config: { agents: { maxInstances: 2, idleSeconds: 0 } } })
        await house.deployed('main', { ...ONE, image: old })
        await house.session('main')
        await house.deployed('other', { ...ONE, image: 'registry.test/other:1' })
        await house.update('main', { image: 'registry.test/new:1' })
        await house.phase('main', 'Active')
        expect(house.engine.running).toHaveLength(3)
        if (what === 'is started again') await house.fixture.restart()
        running('registry.test/other:1')[0]?.crash({ code: 1 })
        await until(async () => (await house.start('other')).status === 200, 'another instance of it')
        expect(house.engine.running).toHaveLength(3)
      },
    )
  })

  it('fails a first deployment that finds no place in time', async () => {
    const config = (maxInstances: number) => ({ agents: { maxInstances, startSeconds: 2 } })
    house = await AgentHouse.open({ config: config(2) })
    await house.deployed('one', ONE)
    house.engine.scripts.set('registry.test/late:1', { waits: true })
    await house.create('late', { ...ONE, image: 'registry.test/late:1' })
    const instance = await until(() => running('registry.test/late:1')[0], 'the second instance')
    await house.fixture.cloud.close({ deadlineMs: 0 })
    instance.crash()
    await writeFile(join(house.fixture.folder, 'cloud.json'), JSON.stringify(config(1)))
    await house.fixture.open()
    expect(await house.phase('late', 'Failed')).toMatchObject({
      deployment: {
        failure: { code: 'DEPLOY-AT-CAPACITY', message: expect.stringContaining('for 2 seconds') },
      },
    })
    expect(house.engine.started).toHaveLength(2)
  })
})

describe('a machine that is full of what nobody needs', () => {
  afterEach(() => {
    for (const instance of house.engine.running) instance.crash()
  })

  const image = 'registry.test/lingers:1'
  const zero = (maxAgents: number) => ({ image, autoScaling: { minAgents: 0, maxAgents } })

  async function open(maxInstances: number): Promise<void> {
    house = await AgentHouse.open({ config: { agents: { maxInstances, idleSeconds: 300 } } })
    house.engine.scripts.set(image, { lingers: true })
  }

  /** Those that run, and were told to end. */
  function stopped(): readonly ScriptedInstance[] {
    return house.engine.running.filter(({ isStopped }) => isStopped)
  }

  /** Waits for an instance to be stopped for another agent, and sees what its own agent says of that. */
  async function yielded(name: string, why: string): Promise<ScriptedInstance> {
    const text = `a ${why} of another agent needs its place.`
    await until(
      async () => (await house.logs(name)).some(({ log }) => log.endsWith(text)),
      `${name} to yield for a ${why}`,
    )
    const isOf = ({ spec }: ScriptedInstance): boolean => spec.settings.agentName === name
    return until(() => stopped().find(isOf), `the instance of ${name} to be stopped`)
  }

  it('starts nothing before what yields is gone, and stops no more than it has to', async () => {
    await open(3)
    for (const name of ['aa', 'bb', 'cc']) await house.deployed(name, zero(1))
    await house.create('dd', zero(1))
    const first = await yielded('aa', 'deployment')
    await house.update('dd', { autoScaling: { maxAgents: 2 } })
    await house.create('ee', zero(1))
    const second = await yielded('bb', 'deployment')
    expect(stopped()).toHaveLength(2)
    expect(house.engine.started).toHaveLength(3)
    first.crash({ code: 0 })
    await house.phase('dd', 'Active')
    expect(house.engine.running).toHaveLength(3)
    second.crash({ code: 0 })
    await house.phase('ee', 'Active')
    expect(house.engine.running).toHaveLength(3)
    expect(stopped()).toEqual([])
  })

  it('gives the place to those for whom it was made, not to a reserve', async () => {
    await open(2)
    await house.deployed('aa', zero(2))
    const { id, instance } = await house.session('aa')
    await until(() => house.engine.running.length === 2, 'the reserve')
    await until(async () => (await house.agent('aa')).currentRevision.readyReplicas === 2, 'it to be ready')
    await house.create('bb', zero(1))
    ;(await yielded('aa', 'deployment')).crash({ code: 0 })
    await house.phase('bb', 'Active')
    instance.endSession(id)
    await house.ended('aa', id)
    await house.session('aa')
    const waiting = house.session('aa')
    ;(await yielded('bb', 'caller')).crash({ code: 0 })
    await waiting
    expect(house.engine.running).toHaveLength(2)
    expect(await house.start('bb')).toMatchObject({ status: 429 })
  })

  it('gives it to them also when another agent has one too many meanwhile, to replace its own', async () => {
    await open(2)
    await house.deployed('cc', { autoScaling: { minAgents: 0, maxAgents: 1 } })
    await house.deployed('bb', ONE)
    await house.session('bb')
    await house.deployed('xx', zero(1))
    const waiting = house.start('cc')
    const place = await yielded('xx', 'caller')
    await house.update('bb', { image: 'registry.test/new:1' })
    await house.phase('bb', 'Active')
    expect(house.engine.running).toHaveLength(3)
    place.crash({ code: 0 })
    expect(await waiting).toMatchObject({ status: 200 })
    expect(house.engine.running).toHaveLength(3)
  })

  it('lets a deployment that waits go on as soon as somebody can yield', async () => {
    house = await AgentHouse.open({ config: { agents: { maxInstances: 1, idleSeconds: 300 } } })
    const scaling = { autoScaling: { minAgents: 0, maxAgents: 1 } }
    await house.deployed('bb', scaling)
    await house.deployed('aa', scaling)
    const { id, instance } = await house.session('aa')
    await house.update('bb', { maxSessionDuration: 99 })
    await until(
      async () => (await house.logs('bb')).some(({ log }) => log.startsWith('Deployment 2 waits: ')),
      'the deployment to wait',
    )
    instance.endSession(id)
    await house.phase('bb', 'Active')
  })
})

describe('bots that hang when they are loaded', () => {
  it('hold up neither callers nor deployments of others', async () => {
    house = await AgentHouse.open({ config: { agents: { idleSeconds: 0 } } })
    await house.deployed('good', { autoScaling: { minAgents: 0, maxAgents: 2 } })
    await until(() => house.engine.running.length === 0, 'the instance to be idle and gone')
    house.engine.scripts.set('registry.test/hang:1', { waits: true })
    const { privateKey } = await house.fixture.addOrganization()
    for (let index = 0; index < 2 * TURNS; index += 1) {
      await house.create(`hang-${index}`, { image: 'registry.test/hang:1' }, privateKey)
    }
    await until(() => running('registry.test/hang:1').length >= TURNS, 'some to hang')
    expect(running('registry.test/hang:1')).toHaveLength(TURNS)
    expect((await house.start('good')).status).toBe(200)
    await house.deployed('other')
  })
})

describe('starts that wait for their turns', () => {
  const [hanging, min] = ['registry.test/hang:1', 12]
  const scaling = { autoScaling: { minAgents: min, maxAgents: min } }

  /** A machine with all turns taken, and so many more places for instances. */
  async function open(places: number): Promise<void> {
    house = await AgentHouse.open({ config: { agents: { idleSeconds: 0, maxInstances: TURNS + places } } })
    house.engine.scripts.set(hanging, { waits: true })
    for (let index = 0; index < TURNS; index += 1) await house.create(`hang-${index}`, { image: hanging })
    await until(() => running(hanging).length === TURNS, 'all turns to be taken')
  }

  /** Lets the others have their turns, and sees that one has had it. */
  async function proceed(): Promise<void> {
    for (const instance of running(hanging)) instance.becomeReady()
    await house.phase('other', 'Active')
  }

  it('are called off with their agent, and leave their places at once', async () => {
    await open(min)
    const warned: string[] = []
    const onWarning = ({ message }: Error): void => void warned.push(message)
    process.on('warning', onWarning)
    await house.create('late', { ...scaling, image: 'registry.test/late:1' })
    expect(await house.create('other')).toMatchObject({ status: 429 })
    process.off('warning', onWarning)
    expect(warned).toEqual([])
    expect(await house.fixture.request('/v1/agents/late', { method: 'DELETE' })).toMatchObject({
      status: 200,
    })
    expect(await house.create('other')).toMatchObject({ status: 200 })
    await proceed()
    const late = house.engine.started.filter(({ spec }) => spec.settings.agentName === 'late')
    expect(late).toEqual([])
  })

  it('are called off when a later deployment supersedes theirs', async () => {
    await open(min)
    await house.create('late', { ...scaling, image: 'registry.test/late:1' })
    await house.update('late', { image: 'registry.test/late:2', autoScaling: { minAgents: 1, maxAgents: 1 } })
    expect(await house.create('other')).toMatchObject({ status: 200 })
    await proceed()
    await house.phase('late', 'Active')
    expect(house.engine.started.filter(({ spec }) => spec.settings.agentName === 'late')).toHaveLength(1)
  })
})

it('a deployment waits for all of its minimum, also when others start before it', async () => {
  house = await AgentHouse.open({ config: { agents: { idleSeconds: 0 } } })
  const [min, image] = [TURNS + 1, 'registry.test/slow:1']
  const scaling = { autoScaling: { minAgents: min, maxAgents: 2 * min } }
  await house.deployed('older', ONE)
  await house.deployed('main', scaling)
  house.engine.scripts.set(image, { waits: true })
  house.engine.scripts.set('registry.test/slow:2', { waits: true })
  await house.update('main', { image })
  await until(() => running(image).length === TURNS, 'the first of them')
  await house.update('older', { image: 'registry.test/slow:2', ...scaling })
  for (const instance of running(image)) instance.becomeReady()
  await until(
    async () => (await house.agent('main')).currentRevision.readyReplicas === TURNS,
    'these to be ready',
  )
  expect(await house.agent('main')).toMatchObject({
    deployment: { phase: 'Validating' },
    previousRevision: { phase: 'Active', readyReplicas: min },
  })
  const last = await until(() => running(image)[TURNS], 'the last one')
  last.becomeReady()
  await house.phase('main', 'Active')
})
