import type { AgentDetails } from '@botcli/protocol/cloud'
import { UsageError } from '../usage-error.ts'

/** How many instances are asked for; what is not said stays. */
export interface WantedScaling {
  readonly min?: number | undefined
  readonly max?: number | undefined
}

/** Refuses a minimum above the maximum that an agent has already, and a maximum below its minimum, in the words of the options. */
export function checkScaling({ name, autoScaling }: AgentDetails, { min, max }: WantedScaling): void {
  const { minReplicas, maxReplicas } = autoScaling
  if (min !== undefined && max === undefined && min > maxReplicas) {
    throw new UsageError([
      `--min ${min} is more than ${name} has at most, which is ${maxReplicas}. Give --max, too.`,
    ])
  }
  if (max !== undefined && min === undefined && max < minReplicas) {
    throw new UsageError([
      `--max ${max} is less than ${name} has at least, which is ${minReplicas}. Give --min, too.`,
    ])
  }
}
