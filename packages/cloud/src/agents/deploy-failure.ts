import type { DeployFailure } from '@botcli/protocol/cloud'
import type { InstanceEnd } from './hosted-instance.ts'

/** The word for instances that could not even start. */
export const START_FAILED = 'StartFailed'
/** The word for instances that the kernel has ended. */
const OUT_OF_MEMORY = 'OOMKilled'

/** How an instance ended, in words. */
export function endWords({ exit: { code, signal, outOfMemory }, hung, wasReady }: InstanceEnd): string {
  if (outOfMemory) return 'ran out of memory'
  if (hung) return wasReady ? 'did not answer any more and was ended' : 'took too long and was ended'
  if (signal !== null) return `was killed (${signal})`
  return code === null ? 'ended' : `ended with exit code ${code}`
}

/** Why an instance ended, beyond what its reason says: its last words, unless it was ended from outside and they are of something else. */
export function endReport(end: InstanceEnd): string {
  if (end.exit.outOfMemory) return ''
  return end.exit.signal === null && !end.hung ? end.words : `The last one ${endWords(end)}.`
}

/** What to do about such an end, as a sentence that follows; nothing where only the bot's own words tell. */
export function remedyOf({ exit }: InstanceEnd): string {
  return exit.outOfMemory ? ' A larger agent_profile gives it more.' : ''
}

/** Why an instance could not start. */
export function failureOf(end: InstanceEnd, startSeconds: number): DeployFailure {
  const message = end.hung
    ? `The bot was not ready within ${startSeconds} seconds: it loads too much, or waits at its top. Who runs the cloud can raise agents.startSeconds.`
    : `The bot ${endWords(end)} before it was ready.${remedyOf(end)}`
  return { code: 'DEPLOY-START-FAILED', message, detail: end.words || null, exitCode: end.exit.code }
}

/** A later deployment came before it was ready. */
export function superseded(by: string): DeployFailure {
  const message = `${by} was made before it was ready.`
  return { code: 'DEPLOY-SUPERSEDED', message, detail: null, exitCode: null }
}

/** It could not even be tried: there was no place for an instance. */
export function noRoomFor(seconds: number): DeployFailure {
  const message = `The machine had all the instances that it may have (agents.maxInstances) for ${seconds} seconds. Make room, and deploy again.`
  return { code: 'DEPLOY-AT-CAPACITY', message, detail: null, exitCode: null }
}

/** How an instance ended, in a word. */
export function reasonOf({ exit, wasReady }: InstanceEnd, failures: number): string {
  if (exit.outOfMemory) return OUT_OF_MEMORY
  if (failures > 1) return 'CrashLoopBackOff'
  return wasReady ? 'Error' : START_FAILED
}

/** What such a word means for the instances of a deployment. */
export function downWords(reason: string): string {
  if (reason === OUT_OF_MEMORY)
    return 'its instances run out of memory, of which a larger agent_profile gives them more'
  return reason === START_FAILED ? 'its instances do not start' : 'its instances keep ending'
}

/** Whether callers are served by the deployment before. */
export function standingWords(downReason: string | undefined): string {
  return downReason === undefined
    ? 'still takes the sessions'
    : `takes none of the sessions either: ${downWords(downReason)}`
}
