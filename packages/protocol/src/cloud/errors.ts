import * as z from 'zod'

/** Every error that an answer of the cloud can carry: its status, and what it means. */
export const CLOUD_ERRORS = {
  INVALID_REQUEST: { status: 400, meaning: 'A parameter, header or body is malformed or out of its range.' },
  UNAUTHORIZED: { status: 401, meaning: 'The key is missing, unknown or revoked.' },
  FORBIDDEN: {
    status: 403,
    meaning: 'The key is of the other family: private for /v1, public for /v1/public.',
  },
  NOT_FOUND: { status: 404, meaning: 'There is nothing of that id or name, or no such route.' },
  METHOD_NOT_ALLOWED: { status: 405, meaning: 'The route is there, but not for this method.' },
  CONFLICT: { status: 409, meaning: 'It clashes with what is there now.' },
  PAYLOAD_TOO_LARGE: { status: 413, meaning: 'The body or the build context is too large.' },
  RATE_LIMITED: { status: 429, meaning: 'Too much at once; Retry-After says when to come back.' },
  INTERNAL: { status: 500, meaning: 'A fault of ours; the log of the cloud has it.' },
  UNAVAILABLE: { status: 503, meaning: 'The cloud is starting or stopping, or its disk is full.' },
} as const satisfies Record<string, { readonly status: number; readonly meaning: string }>

/** A code for programmatic handling. */
export type CloudErrorCode = keyof typeof CLOUD_ERRORS

/** The body of every error. */
export const cloudErrorBody = z.strictObject({ error: z.string(), code: z.string() })
export type CloudErrorBody = z.infer<typeof cloudErrorBody>
