import type { BuildLimits } from '../builder.ts'
import type { CommandEnd } from '../limits/limiter.ts'
import { aborted, type FailedResult, failed, timedOut } from './classify.ts'

const RAISE = 'Do less in the build, or raise the limit.'

/** What a command came to that did not end by itself. */
export function limitReached(
  { ended }: CommandEnd,
  limits: BuildLimits,
  step: { readonly text: string; readonly line: number } | undefined,
  signal: AbortSignal,
): FailedResult | undefined {
  switch (ended) {
    case 'itself':
      return undefined
    case 'aborted':
      return aborted(signal)
    case 'time':
      return timedOut(limits.seconds)
    case 'memory':
      return failed(
        'out_of_memory',
        `the build took more than ${mib(limits.memoryBytes)} of memory`,
        step,
        RAISE,
      )
    case 'disk':
      return failed('out_of_disk', `the build took more than ${mib(limits.diskBytes)} of disk`, step, RAISE)
    case 'processes':
      return failed('command_failed', `the build had more than ${limits.processes} processes`, step, RAISE)
  }
}

function mib(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MiB`
}
