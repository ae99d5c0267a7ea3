import type { AgentDetails, BuildRecord } from '@botcli/protocol/cloud'
import { activeNumber } from '../agent/report.ts'
import { COLOURS } from '../paint.ts'
import { type Desk, plain } from '../remote/desk.ts'
import { facts } from '../remote/table.ts'
import type { DeployPlan } from './plan.ts'

/** Where something is deployed. */
export interface Place {
  readonly url: string
  readonly region: string
  /** The agent as it is now, if it is there. */
  readonly before: AgentDetails | undefined
}

/** Tells what a deploy is about; its build and its roll-out tell the rest. */
export class DeployReport {
  readonly #desk: Desk

  constructor(desk: Desk) {
    this.#desk = desk
  }

  /** What is deployed where. */
  begin(plan: DeployPlan, { url, region, before }: Place): void {
    const { name, source, secretSet, settings } = plan
    this.#desk.emit('deploy', {
      agent: name,
      url,
      region,
      isNew: before === undefined,
      source: source.kind,
      secretSet: secretSet ?? null,
      settings,
    })
    if (this.#desk.json) return
    this.#desk.note(
      `${this.#desk.notePaint(COLOURS.cyan, `Deploying ${name}`)} to ${url}, region ${region} (${standing(before)})`,
    )
    const rows = facts([
      ['runs', runs(plan)],
      ['secrets', secretSet === null ? 'none any more' : secretSet],
      ['scaling', scaling(settings)],
      ['profile', settings.agentProfile],
    ])
    for (const row of rows) this.#desk.note(`  ${plain(row)}`)
  }

  notBuilt(name: string, { status, id }: BuildRecord, before: AgentDetails | undefined): void {
    const failure = { code: 'BUILD_FAILED', message: `The build ended as ${status}.` }
    this.#desk.emit('outcome', { status: 'not_built', agent: name, buildId: id, failure })
    if (this.#desk.json) return
    const active = before && activeNumber(before)
    this.#desk.note(
      active === undefined
        ? 'Nothing was deployed.'
        : `Nothing was deployed. Deployment ${active} of ${name} still takes sessions.`,
    )
  }

  /** Somebody stopped it when the cloud had been asked, and before it answered. */
  unknown(name: string): void {
    this.#desk.note(`Stopped. A deployment may have been made all the same: botcli agent get ${name}`)
  }

  detached({ name, deployment }: AgentDetails): void {
    this.#desk.emit('outcome', { status: 'detached', agent: name, deployment })
    this.#desk.say(deployment.id)
    if (!this.#desk.json) {
      this.#desk.note(`Deployment ${deployment.number} of ${name} goes on. See: botcli agent get ${name}`)
    }
  }
}

function standing(before: AgentDetails | undefined): string {
  if (before === undefined) return 'a new agent'
  const active = activeNumber(before)
  return active === undefined ? 'it takes no sessions now' : `deployment ${active} takes sessions now`
}

function runs({ source }: DeployPlan): string {
  if (source.kind === 'image') return `image ${source.image}`
  if (source.kind === 'build') return `build ${source.build}`
  return source.plan.folder
}

function scaling({ minAgents, maxAgents }: DeployPlan['settings']): string | undefined {
  if (minAgents === undefined && maxAgents === undefined) return undefined
  const least = minAgents === undefined ? '' : `at least ${minAgents}`
  const most = maxAgents === undefined ? '' : `at most ${maxAgents}`
  return [least, most].filter((text) => text !== '').join(', ')
}
