import * as z from 'zod'

/** Every error that an answer of the cloud can carry, also as the failure of a deployment: its status, and what it means. */
export const CLOUD_ERRORS = {
  INVALID_REQUEST: { status: 400, meaning: 'A parameter, header or body is malformed or out of its range.' },
  UNAUTHORIZED: { status: 401, meaning: 'The key is missing, unknown or revoked.' },
  FORBIDDEN: {
    status: 403,
    meaning:
      'The key is of the other family: private for /v1, public for /v1/public. Or the address of a WebSocket was used, has expired, or never was one.',
  },
  NOT_FOUND: { status: 404, meaning: 'There is nothing of that id or name, or no such route.' },
  METHOD_NOT_ALLOWED: { status: 405, meaning: 'The route is there, but not for this method.' },
  CONFLICT: { status: 409, meaning: 'It clashes with what is there now.' },
  PAYLOAD_TOO_LARGE: { status: 413, meaning: 'The body or the build context is too large.' },
  RATE_LIMITED: { status: 429, meaning: 'Too much at once; Retry-After says when to come back.' },
  INTERNAL: { status: 500, meaning: 'A fault of ours; the log of the cloud has it.' },
  UNAVAILABLE: { status: 503, meaning: 'The cloud is starting or stopping, or its disk is full.' },
  'DEPLOY-NOT-READY': {
    status: 409,
    meaning: 'The agent has no deployment that takes sessions, or the start took too long.',
  },
  'DEPLOY-AT-CAPACITY': {
    status: 429,
    meaning:
      'The agent has all the sessions, or the machine all the instances, that it may have; Retry-After says when to come back.',
  },
  'DEPLOY-BUILD-NOT-FOUND': { status: 404, meaning: 'There is no build of that id.' },
  'DEPLOY-BUILD-NOT-SUCCESSFUL': { status: 400, meaning: 'The build failed, or is not over yet.' },
  'DEPLOY-REGION-MISMATCH': {
    status: 400,
    meaning: 'The build or a secret set is in another region than the agent.',
  },
  'DEPLOY-SECRET-NOT-FOUND': {
    status: 404,
    meaning: 'There is no secret set of that name, or it is of the other type.',
  },
  'DEPLOY-IMAGE-NOT-FOUND': {
    status: 400,
    meaning: 'The artifact is gone, or nothing on this machine can run it.',
  },
  'DEPLOY-START-FAILED': {
    status: 502,
    meaning: 'The bot ended, or did not become ready, when it was started.',
  },
  'DEPLOY-SUPERSEDED': {
    status: 409,
    meaning:
      'A later deployment was made before this one was ready. It is told of deployments (failure), and is no answer to a request.',
  },
  'DEPLOY-SESSION-FAILED': {
    status: 502,
    meaning: 'The instance could not begin the session, or ended while it was asked.',
  },
} as const satisfies Record<string, { readonly status: number; readonly meaning: string }>

/** A code for programmatic handling. */
export type CloudErrorCode = keyof typeof CLOUD_ERRORS

/** The body of every error. */
export const cloudErrorBody = z.strictObject({ error: z.string(), code: z.string() })
export type CloudErrorBody = z.infer<typeof cloudErrorBody>
