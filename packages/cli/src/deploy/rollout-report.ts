import type { AgentDetails, DeploymentPhase, DeploymentRecord } from '@botcli/protocol/cloud'
import { showLogEvent } from '../agent/log-view.ts'
import { activeNumber, indented, shownArtifact } from '../agent/report.ts'
import { EXIT } from '../exit-codes.ts'
import { COLOURS } from '../paint.ts'
import type { Desk } from '../remote/desk.ts'
import type { AgentLogEvent } from '../remote/follow-agent-log.ts'
import { facts, shownSeconds } from '../remote/table.ts'

/** What is waited for in each phase that is not the last. */
const PHASE_WORDS: Partial<Record<DeploymentPhase, string>> = {
  Creating: 'it waits to be rolled out',
  Validating: 'its first instance is being started',
}
const SHOWN_LINES = 60
/** The failure of a deployment that never became active because a later one came. */
const SUPERSEDED = 'DEPLOY-SUPERSEDED'

/** What became of a deployment. */
type Outcome = 'active' | 'failed' | 'superseded' | 'undecided'

/** Tells how a deployment goes: to people beside its log, to programs line by line. */
export class RolloutReport {
  readonly #desk: Desk
  readonly #url: string
  #phase: DeploymentPhase | undefined
  #restarts = 0

  constructor(desk: Desk, url: string) {
    this.#desk = desk
    this.#url = url
  }

  made({ name, deployment, warning }: AgentDetails): void {
    this.#desk.emit('deployment', { agent: name, deployment, ...(warning !== undefined && { warning }) })
    if (!this.#desk.json) {
      this.#desk.note(
        `${this.#desk.notePaint(COLOURS.cyan, `Deployment ${deployment.number} of ${name}`)} is made of ${shownArtifact(deployment)}.`,
      )
    }
    if (warning !== undefined && !this.#desk.json) this.#desk.note(warning)
  }

  /** Tells what is new. */
  progress(agent: AgentDetails, { id, number, phase }: DeploymentRecord): void {
    if (phase !== this.#phase) {
      this.#phase = phase
      const words = PHASE_WORDS[phase]
      this.#desk.emit('phase', { deploymentId: id, phase })
      if (!this.#desk.json && words !== undefined) this.#desk.note(`Deployment ${number}: ${words}.`)
    }
    const { deploymentID, health } = agent.currentRevision
    if (deploymentID !== id || health.restartCount <= this.#restarts) return
    this.#restarts = health.restartCount
    const code = health.lastExitCode === null ? '' : ` with exit code ${health.lastExitCode}`
    this.note(`An instance ended${code}, and is started again (${health.restartCount}).`)
  }

  waiting({ number, phase }: DeploymentRecord, afterMs: number): void {
    const words = PHASE_WORDS[phase] ?? phase
    this.note(`Still waiting for deployment ${number} after ${shownSeconds(afterMs / 1000)}: ${words}.`)
  }

  /** The log of the build was shown when it was built. */
  log(event: AgentLogEvent): void {
    if (event.type === 'entry' && event.entry.source === 'build') return
    showLogEvent(event, this.#desk, { day: false, session: false })
  }

  note(text: string): void {
    if (this.#desk.json) this.#desk.emit('note', { text })
    else this.#desk.note(text)
  }

  /** Somebody leaves; the roll-out goes on. */
  left(name: string): void {
    this.note(
      `The roll-out goes on without you. See how it goes: botcli agent get ${name}, botcli agent logs -f ${name}`,
    )
  }

  /** Nothing was to be done: what runs is what was asked for. */
  unchanged(agent: AgentDetails, what: string): number {
    this.#outcome('active', agent, agent.deployment, { changed: false })
    if (!this.#desk.json) {
      const does = agent.available ? 'takes sessions' : 'is active, but none of its instances works'
      this.#desk.note(`${what} Deployment ${agent.deployment.number} of ${agent.name} ${does}.`)
      this.#desk.note('--force deploys it again.')
    }
    return EXIT.ok
  }

  /** What became of it; gives the exit code. */
  end(agent: AgentDetails, deployment: DeploymentRecord, afterMs: number): number {
    const outcome = outcomeOf(deployment)
    this.#outcome(outcome, agent, deployment, { changed: true })
    if (!this.#desk.json)
      for (const line of this.#lines(outcome, agent, deployment, afterMs)) this.#desk.note(line)
    return outcome === 'active' ? EXIT.ok : EXIT.failed
  }

  #outcome(
    status: Outcome,
    agent: AgentDetails,
    deployment: DeploymentRecord,
    fields: { readonly changed: boolean },
  ): void {
    const startUrl = this.#startUrl(agent.name)
    this.#desk.emit('outcome', {
      status,
      ...fields,
      startUrl,
      failure: deployment.failure,
      deployment,
      agent,
    })
  }

  #startUrl(name: string): string {
    return `${this.#url}/v1/public/${name}/start`
  }

  #lines(
    outcome: Outcome,
    agent: AgentDetails,
    deployment: DeploymentRecord,
    afterMs: number,
  ): readonly string[] {
    const paint = this.#desk.notePaint
    const { name } = agent
    const what = `Deployment ${deployment.number} of ${name}`
    const time = `after ${shownSeconds(afterMs / 1000)}`
    if (outcome === 'active') {
      return [paint(COLOURS.green, `${what} takes sessions ${time}.`), ...below(this.#next(name))]
    }
    if (outcome === 'superseded') {
      return [
        paint(COLOURS.red, `${what} was replaced by deployment ${agent.deployment.number} ${time}.`),
        ...below([['see', `botcli agent get ${name}`]]),
      ]
    }
    if (outcome === 'undecided') {
      const words = PHASE_WORDS[deployment.phase] ?? deployment.phase
      return [
        paint(COLOURS.red, `${what} does not take sessions ${time}: ${words}.`),
        'It goes on without you.',
        ...below([['see', `botcli agent get ${name}`], this.#logsOf(name, deployment)]),
        ...stillThere(agent, deployment),
      ]
    }
    const { failure } = deployment
    return [
      paint(COLOURS.red, `${what} failed ${time}${failure === null ? '' : ` [${failure.code}]`}.`),
      ...(failure === null ? [] : below([['why', failure.message]])),
      ...(failure?.detail ? ['', ...lastLines(failure.detail), ''] : []),
      ...below([this.#logsOf(name, deployment)]),
      ...stillThere(agent, deployment),
    ]
  }

  #next(name: string): readonly (readonly [string, string])[] {
    return [
      ['talk', `botcli session start ${name} --open`],
      ['call', `botcli call --agent ${name} (if it takes phone calls)`],
      ['logs', `botcli agent logs -f ${name}`],
      ['start', `POST ${this.#startUrl(name)} (with a public key)`],
      ['page', `${this.#url}/#/agents/${name}`],
    ]
  }

  #logsOf(name: string, { number }: DeploymentRecord): readonly [string, string] {
    return ['logs', `botcli agent logs ${name} --deployment ${number}`]
  }
}

function outcomeOf({ phase, failure }: DeploymentRecord): Outcome {
  if (phase === 'Active') return 'active'
  if (phase === 'Failed') return failure?.code === SUPERSEDED ? 'superseded' : 'failed'
  return phase === 'Draining' || phase === 'Retired' ? 'superseded' : 'undecided'
}

/** Whether callers are served all the same. */
function stillThere(agent: AgentDetails, { id }: DeploymentRecord): readonly string[] {
  const { activeDeploymentId: active, available, name } = agent
  if (active === null || active === id) return [`No deployment of ${name} takes sessions.`]
  if (!available) {
    return [
      `No deployment of ${name} takes sessions: none of the instances of the one before works, either.`,
      ...below([['see', `botcli agent get ${name}`]]),
    ]
  }
  const number = activeNumber(agent)
  return [`${number === undefined ? 'The one before' : `Deployment ${number}`} still takes sessions.`]
}

function below(rows: readonly (readonly [string, string])[]): readonly string[] {
  return facts(rows).map((line) => `  ${line}`)
}

/** The end of what the bot said: there it says why. */
function lastLines(detail: string): readonly string[] {
  const lines = indented(detail)
  if (lines.length <= SHOWN_LINES) return lines
  return [`  (${lines.length - SHOWN_LINES} lines before that)`, ...lines.slice(-SHOWN_LINES)]
}
