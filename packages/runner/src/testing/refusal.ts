import { RequestError } from '../request-error.ts'

/** The error with which something is refused. */
export function refusalOf(work: () => unknown): RequestError {
  try {
    work()
  } catch (error) {
    if (error instanceof RequestError) return error
    throw error
  }
  throw new Error('it was not refused')
}
