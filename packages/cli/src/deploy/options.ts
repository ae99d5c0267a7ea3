import { AGENT_PROFILE_NAMES, secretSetName } from '@botcli/protocol/cloud'
import { parseAgentName } from '../agent/agent-name.ts'
import { MAX_OPTION, MIN_OPTION } from '../agent/scale.ts'
import { lengthOfTime } from '../call/values.ts'
import { flag, optional, ValueError, valued } from '../options/option.ts'
import { JSON_OPTION } from '../remote/action.ts'
import { notEmpty } from '../remote/values.ts'
import { oneOf } from '../run/values.ts'

/** For how long a roll-out is waited for. */
export const WAIT_OPTION = valued({
  name: 'wait',
  argument: 'TIME',
  default: '10m',
  help: 'For how long its end is waited for: 90s, 5m.',
  parse: lengthOfTime(1000, 24 * 60 * 60_000),
})

/** Every option of `botcli deploy`. Those that the deployment file has, too, win over it. */
export const DEPLOY_OPTIONS = {
  agent: optional({
    name: 'agent',
    argument: 'NAME',
    default: 'agent_name in deploy.toml',
    help: 'The agent to make or to change.',
    parse: parseAgentName,
  }),
  image: optional({
    name: 'image',
    argument: 'IMAGE',
    help: 'Run this container image; nothing is built.',
    parse: notEmpty,
  }),
  imageCredentials: optional({
    name: 'image-credentials',
    argument: 'SET',
    help: 'The secret set that opens the registry of the image.',
    parse: parseSetName,
  }),
  build: optional({
    name: 'build',
    argument: 'ID',
    help: 'Run this build, or the one whose id begins so; nothing is built.',
    parse: notEmpty,
  }),
  secretSet: optional({
    name: 'secret-set',
    argument: 'SET',
    help: 'The secret set whose variables the bot gets.',
    parse: parseSetName,
  }),
  noSecretSet: flag({ name: 'no-secret-set', help: 'Take the secret set away from the agent.' }),
  region: optional({
    name: 'region',
    argument: 'REGION',
    default: "the agent's, or the organization's",
    help: 'Where a new agent runs. An agent never changes its region.',
    parse: notEmpty,
  }),
  profile: optional({
    name: 'profile',
    argument: 'PROFILE',
    help: `What one instance may take: ${AGENT_PROFILE_NAMES.join(', ')}.`,
    parse: oneOf(AGENT_PROFILE_NAMES),
  }),
  min: MIN_OPTION,
  max: MAX_OPTION,
  dockerfile: optional({
    name: 'dockerfile',
    argument: 'PATH',
    default: 'Dockerfile',
    help: 'The container build file, from the context on.',
    parse: notEmpty,
  }),
  noCache: flag({ name: 'no-cache', help: 'Build even if the same files were built before.' }),
  force: flag({ name: 'force', help: 'Make a new deployment even if nothing has changed.' }),
  detach: flag({ name: 'detach', short: 'd', help: 'Do not wait for the roll-out, only for the build.' }),
  wait: WAIT_OPTION,
  json: flag({
    ...JSON_OPTION,
    help: 'Print what happens as JSON, a line for each event, the outcome last.',
  }),
} as const

function parseSetName(text: string): string {
  if (secretSetName.safeParse(text).success) return text
  throw new ValueError(
    `must be the name of a secret set, which "botcli secrets list" shows, not ${JSON.stringify(text)}.`,
  )
}
