import type {
  AgentDetails,
  AgentLogEntry,
  AgentLogsResponse,
  DeploymentPhase,
  PublicStartResponse,
  SessionRecord,
} from '@botcli/protocol/cloud'
import { type Answer, CloudFixture, type FixtureOptions, until } from './cloud-fixture.ts'
import { ScriptedEngine, type ScriptedInstance } from './scripted-engine.ts'

/** A cloud whose agents run inside of the test. */
export class AgentHouse {
  readonly fixture: CloudFixture
  readonly engine: ScriptedEngine

  private constructor(fixture: CloudFixture, engine: ScriptedEngine) {
    this.fixture = fixture
    this.engine = engine
  }

  static async open(options: FixtureOptions = {}): Promise<AgentHouse> {
    const engine = await ScriptedEngine.open()
    return new AgentHouse(await CloudFixture.start({ engine, ...options }), engine)
  }

  /** The same for a cloud that somebody else has started, and closes. */
  static of(fixture: CloudFixture, engine: ScriptedEngine): AgentHouse {
    return new AgentHouse(fixture, engine)
  }

  async close(): Promise<void> {
    await this.fixture.close()
    await this.engine.end()
  }

  /** Makes an agent of an image. */
  async create(
    serviceName: string,
    request: Readonly<Record<string, unknown>> = {},
    key?: string,
  ): Promise<Answer> {
    return this.fixture.send(
      'POST',
      '/v1/agents',
      { serviceName, image: 'registry.test/bot:1', ...request },
      key,
    )
  }

  /** Makes an agent, and waits until it takes sessions. */
  async deployed(
    name: string,
    request: Readonly<Record<string, unknown>> = {},
    key?: string,
  ): Promise<AgentDetails> {
    const { status, body } = await this.create(name, request, key)
    if (status !== 200) throw new Error(`the agent was refused: ${JSON.stringify(body)}`)
    return this.phase(name, 'Active', key)
  }

  async update(name: string, request: Readonly<Record<string, unknown>>, key?: string): Promise<Answer> {
    return this.fixture.send('POST', `/v1/agents/${name}`, request, key)
  }

  async agent(name: string, key?: string): Promise<AgentDetails> {
    return (await this.fixture.request(`/v1/agents/${name}`, { key })).body as AgentDetails
  }

  /** Waits until the newest deployment is in this phase. */
  async phase(name: string, phase: DeploymentPhase, key?: string): Promise<AgentDetails> {
    return until(async () => {
      const agent = await this.agent(name, key)
      return agent.deployment.phase === phase && agent.currentRevision.phase === phase ? agent : undefined
    }, `${name} to be ${phase}`)
  }

  async start(name: string, request: unknown = {}, key = this.fixture.keys.publicKey): Promise<Answer> {
    return this.fixture.send('POST', `/v1/public/${name}/start`, request, key)
  }

  /** Starts a session, and gives its id and its instance. */
  async session(name: string, request: unknown = {}): Promise<{ id: string; instance: ScriptedInstance }> {
    const { status, body } = await this.start(name, request)
    if (status !== 200) throw new Error(`the start was refused: ${status} ${JSON.stringify(body)}`)
    const { sessionId: id } = body as PublicStartResponse
    const instance = this.engine.started.find(({ sessions }) => sessions.has(id))
    if (!instance) throw new Error('no instance has the session')
    return { id, instance }
  }

  async record(name: string, id: string, key?: string): Promise<SessionRecord> {
    return (await this.fixture.request(`/v1/agents/${name}/sessions/${id}`, { key })).body as SessionRecord
  }

  /** Waits until a session is over. */
  async ended(name: string, id: string): Promise<SessionRecord> {
    return until(async () => {
      const record = await this.record(name, id)
      return record.state === 'ended' ? record : undefined
    }, `session ${id} to be over`)
  }

  async logs(name: string, query = '', key?: string): Promise<readonly AgentLogEntry[]> {
    const { body } = await this.fixture.request(`/v1/agents/${name}/logs?limit=1000&order=asc${query}`, {
      key,
    })
    return (body as AgentLogsResponse).logs
  }
}
