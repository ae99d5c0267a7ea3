import type { IncomingMessage } from 'node:http'
import type { CloudErrorCode } from '@botcli/protocol/cloud'
import type * as z from 'zod'

/** Who may call a route: holders of a private or public key, of the token of an upload, or anybody. */
export type RouteAuth = 'private' | 'public' | 'upload' | 'none'

/** The methods that routes have. */
export type RouteMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'

/** What the parts of a path must be. */
export type PathSchemas = Readonly<Record<string, z.ZodType<string>>>

/** What a handler answers; nothing as its body is no body. */
export interface RouteAnswer {
  readonly status: number
  readonly body?: unknown
}

/** A request whose parts were all checked. */
export interface RouteCall<P, Q, B> {
  /** Whose key it was; empty where no key is needed. */
  readonly organizationId: string
  readonly params: { readonly [K in keyof P]: string }
  readonly query: Q
  readonly body: B
  readonly incoming: IncomingMessage
}

/** One operation: it drives what is served, what is checked, and what the OpenAPI document says. */
export interface Route {
  readonly method: RouteMethod
  /** As OpenAPI writes it, such as `/v1/builds/{buildId}`. */
  readonly path: string
  readonly operationId: string
  readonly tag: string
  readonly summary: string
  readonly auth: RouteAuth
  readonly params: PathSchemas
  readonly query: z.ZodObject | undefined
  /** Headers that are more than those of every request. */
  readonly headers: z.ZodObject | undefined
  readonly body: z.ZodType | undefined
  /** The largest body, if it is not the usual one. */
  readonly maxBodyBytes: number | undefined
  /** What a form is made of, where the body is one. */
  readonly form: z.ZodType | undefined
  /** Schemas of what is answered, by status; nothing where there is no body. */
  readonly answers: Readonly<Record<number, z.ZodType | undefined>>
  readonly errors: readonly CloudErrorCode[]
  /** Further types of the answer, beside JSON. */
  readonly otherTypes: readonly string[]
  /** Whether body, query and answer are up to the bot, and go through as they are. */
  readonly passesThrough: boolean
  /** Missing where the answer is written as bytes, outside of the routes. */
  readonly handle: ((call: RouteCall<PathSchemas, unknown, unknown>) => Promise<RouteAnswer>) | undefined
}

/** Whether a request needs no body: where nothing is needed, nothing has to be sent. */
export function mayBeEmpty({ body }: Route): boolean {
  return body?.safeParse({}).success ?? false
}

interface Definition<P extends PathSchemas, Q extends z.ZodObject, B extends z.ZodType>
  extends Partial<
      Pick<Route, 'auth' | 'headers' | 'maxBodyBytes' | 'form' | 'errors' | 'otherTypes' | 'passesThrough'>
    >,
    Pick<Route, 'method' | 'path' | 'operationId' | 'tag' | 'summary' | 'answers'> {
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  readonly handle?: (call: RouteCall<P, z.infer<Q>, z.infer<B>>) => Promise<RouteAnswer>
}

/** Makes a route whose handler sees what its schemas say. */
export function route<
  P extends PathSchemas = Record<never, z.ZodType<string>>,
  Q extends z.ZodObject = z.ZodObject,
  B extends z.ZodType = z.ZodType,
>(definition: Definition<P, Q, B>): Route {
  return {
    auth: 'private',
    params: {},
    query: undefined,
    headers: undefined,
    body: undefined,
    maxBodyBytes: undefined,
    form: undefined,
    errors: [],
    otherTypes: [],
    passesThrough: false,
    ...definition,
    // The server calls it only with what the schemas beside it gave.
    handle: definition.handle as Route['handle'],
  }
}
