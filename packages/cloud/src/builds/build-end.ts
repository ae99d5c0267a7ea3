import type { FailureCode } from '@botcli/protocol/cloud'
import { isDiskFull } from '../disk-full.ts'
import type { BuildEnd } from '../store/store.ts'

/** Why a build is ended before it is done: somebody asked for it, the cloud stops, or another process has taken it over. */
export type StopReason = 'cancelled' | 'stopping' | 'lost'

/** The end of a build that went wrong for no reason of its own. */
export function failedEnd(
  code: FailureCode,
  errorMessage: string,
  hint: string,
  builder: string | null = null,
): BuildEnd {
  return {
    status: 'failed',
    imageUri: null,
    imageSizeBytes: null,
    errorMessage,
    failure: { code, step: null, line: null, hint },
    builder,
    bases: [],
  }
}

/** The end of a build that somebody has cancelled. */
export function cancelledEnd(builder: string | null = null): BuildEnd {
  return failedEnd('cancelled', 'The build was cancelled.', 'Create it again if that was not meant.', builder)
}

/** The end of a build that lost what was building it. */
export function lostEnd(errorMessage: string): BuildEnd {
  return failedEnd('builder_lost', errorMessage, 'Create the build again. Nothing is wrong with it.')
}

/** The end of a build that the cloud could not do, for a reason that is not the build's. */
export function faultEnd(error: unknown, builder: string | null = null): BuildEnd {
  if (isDiskFull(error)) {
    const hint = 'Make room where the cloud runs, then create the build again. Nothing is wrong with it.'
    return failedEnd('out_of_disk', "The cloud's disk is full.", hint, builder)
  }
  const hint = 'Create the build again. If it happens again, the log of the cloud says more.'
  const why = error instanceof Error ? error.message : String(error)
  return failedEnd('builder_failed', `The builder failed: ${why}`, hint, builder)
}

/** The end of a build that took too long. */
export function timeoutEnd(seconds: number, builder: string | null): BuildEnd {
  return {
    status: 'timeout',
    imageUri: null,
    imageSizeBytes: null,
    errorMessage: `The build did not end within its limit of ${seconds} s.`,
    failure: null,
    builder,
    bases: [],
  }
}
