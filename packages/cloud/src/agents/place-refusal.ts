import type { DeployFailure } from '@botcli/protocol/cloud'
import { CloudError } from '../errors.ts'

/** A caller that comes back after so long may find a place. */
const RETRY_SECONDS = 5

/** The agent has as many sessions as it may have. */
export function agentFull(most: number): CloudError {
  const all = most === 1 ? 'the one session' : `all ${most} sessions`
  return atCapacity(`The agent has ${all} that it may have. Try again later.`)
}

function atCapacity(message: string): CloudError {
  return new CloudError('DEPLOY-AT-CAPACITY', message, { retryAfterSeconds: RETRY_SECONDS })
}

/** All places for instances are taken. */
export function machineFull(maxInstances: number): CloudError {
  const most = maxInstances === 1 ? 'the one instance' : `all ${maxInstances} instances`
  return atCapacity(
    `The machine has ${most} that it may have (agents.maxInstances of the cloud), and none is idle. Make room, or try again when there are fewer callers.`,
  )
}

/** The one answer for an agent that is not there, or is somebody else's. */
export function noAgent(name: string): CloudError {
  return new CloudError('NOT_FOUND', `There is no agent ${name}.`)
}

/** A caller has waited as long as one may. */
export function notInTime(limitMs: number): CloudError {
  const message = `No instance became ready within ${Math.round(limitMs / 1000)} seconds. Try again.`
  return new CloudError('DEPLOY-NOT-READY', message, { retryAfterSeconds: RETRY_SECONDS })
}

/** The cloud is about to end, and starts nothing. */
export function stopping(): CloudError {
  return new CloudError('UNAVAILABLE', 'The cloud is stopping. Try again when it is back.')
}

/** The bot does not start any more. */
export function startFailed({ message }: DeployFailure): CloudError {
  return new CloudError('DEPLOY-START-FAILED', message)
}

/** No deployment takes sessions: none is active yet, or none has become so. */
export function notReady(agentName: string, { isRollingOut }: { isRollingOut: boolean }): CloudError {
  const why = isRollingOut
    ? 'Its first deployment is not ready yet. Try again in a moment.'
    : `No deployment of it has become active. See what went wrong: botcli agent get ${agentName}`
  // Who comes back to one that has failed finds the same.
  const later = isRollingOut ? { retryAfterSeconds: RETRY_SECONDS } : {}
  return new CloudError('DEPLOY-NOT-READY', `The agent ${agentName} takes no sessions now. ${why}`, later)
}
