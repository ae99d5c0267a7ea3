import { shapeOf, textAt } from '../../state/shape.ts'

/** An answer of the cloud that is not the one asked for, in words for people. */
export class ApiError extends Error {
  /** The HTTP status, or 0 when there was no answer at all. */
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.code = code
  }
}

/** Words for an answer that is not a success. */
export async function refusal(response: Response): Promise<ApiError> {
  const body = shapeOf(await response.json().catch(() => undefined))
  const said = textAt(body, 'error')
  const message = said ?? `The cloud answered with HTTP status ${response.status} and no explanation.`
  return new ApiError(response.status, textAt(body, 'code') ?? `HTTP_${response.status}`, message)
}

/** Words for a request that got no answer. */
export function noAnswer(error: unknown): ApiError {
  const late = error instanceof DOMException && error.name === 'TimeoutError'
  const message = late
    ? 'The cloud took too long to answer. Try again.'
    : 'The cloud does not answer. Check that it is still running, then try again.'
  return new ApiError(0, late ? 'TIMED_OUT' : 'NO_ANSWER', message)
}

/** What any thrown thing says. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
