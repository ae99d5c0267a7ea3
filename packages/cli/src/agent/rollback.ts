import { WAIT_OPTION } from '../deploy/options.ts'
import { Rollout } from '../deploy/rollout.ts'
import { flag, optional } from '../options/option.ts'
import { action, JSON_OPTION } from '../remote/action.ts'
import type { CloudClient } from '../remote/cloud-client.ts'
import { RemoteError } from '../remote/remote-error.ts'
import { notEmpty } from '../remote/values.ts'
import { UsageError } from '../usage-error.ts'
import { readAgentName } from './agent-name.ts'
import { findDeployment, readDeployment } from './deployment-id.ts'

/** What the roll-out of something that was built before comes to. */
export const ROLLOUT_EXIT_CODES = `  0    it takes sessions
  1    it failed, took too long, or could not be made; what ran before goes on
  2    the command line is wrong
  130  Ctrl-C was pressed; the roll-out goes on`

const ROLLOUT_JSON = flag({
  ...JSON_OPTION,
  help: 'Print what happens as JSON, a line for each event, the outcome last.',
})

/** `botcli agent rollback NAME [DEPLOYMENT]`. */
export const rollbackAction = action({
  name: 'agent rollback',
  summary: 'Go back to what was deployed before, without a build',
  usage: 'NAME [DEPLOYMENT]',
  arguments: { min: 1, max: 2 },
  about: `DEPLOYMENT is the number of a deployment or the beginning of its id, which "botcli agent deployments NAME"
shows; by default, the last one that took sessions before. It becomes a new deployment, with today's
secrets. Sessions that run finish where they are.`,
  exitCodes: ROLLOUT_EXIT_CODES,
  options: { wait: WAIT_OPTION, json: ROLLOUT_JSON },
  async work({ args: [text, typed], values: { wait } }, desk) {
    const name = readAgentName(text)
    const wanted = typed === undefined ? undefined : readDeployment(typed, name)
    const client = await desk.connect()
    const deploymentId = wanted && (await findDeployment(client, name, wanted)).id
    const agent = await client.agents.rollback(name, deploymentId === undefined ? {} : { deploymentId })
    return new Rollout(client, desk, { limitMs: wait }).run(agent)
  },
})

/** `botcli agent promote FROM TO`. */
export const promoteAction = action({
  name: 'agent promote',
  summary: 'Let an agent run what another one runs, without a build',
  usage: 'FROM TO',
  arguments: { min: 2, max: 2 },
  about: `TO gets a new deployment of what FROM runs, such as production that of staging. Secrets, scaling and all
else of TO stay as they are.`,
  exitCodes: ROLLOUT_EXIT_CODES,
  options: {
    deployment: optional({
      name: 'deployment',
      argument: 'N',
      default: 'the one that takes sessions',
      help: 'Which deployment of FROM: its number, or the beginning of its id.',
      parse: notEmpty,
    }),
    wait: WAIT_OPTION,
    json: ROLLOUT_JSON,
  },
  async work({ args: [from, to], values: { deployment, wait } }, desk) {
    const fromAgent = readAgentName(from, 'FROM')
    const name = readAgentName(to, 'TO')
    if (fromAgent === name) throw new UsageError(['FROM and TO must be two agents, not the same one.'])
    const wanted = deployment && readDeployment(deployment, fromAgent)
    const client = await desk.connect()
    const deploymentId = wanted && (await findDeployment(client, fromAgent, wanted)).id
    await checkTarget(client, fromAgent, name)
    const agent = await client.agents.promote(name, { fromAgent, ...(deploymentId && { deploymentId }) })
    return new Rollout(client, desk, { limitMs: wait }).run(agent)
  },
})

/** Both have to be there; how the second one comes to be is told. */
async function checkTarget(client: CloudClient, from: string, to: string): Promise<void> {
  const { deployment } = await client.agents.get(from)
  try {
    await client.agents.get(to)
  } catch (error) {
    if (!(error instanceof RemoteError) || error.status !== 404) throw error
    const what = deployment.buildId === null ? `--image ${deployment.image}` : `--build ${deployment.buildId}`
    throw RemoteError.local(
      'NOT_FOUND',
      `There is no agent ${to} yet. Make it of the same build: botcli deploy --agent ${to} ${what}`,
    )
  }
}
