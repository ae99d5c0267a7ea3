import { startRequestSchema } from '@botcli/protocol'
import * as wire from '@botcli/protocol/cloud'
import { CLOUD_ERRORS, type CloudErrorCode, cloudErrorBody } from '@botcli/protocol/cloud'
import * as z from 'zod'
import { mayBeEmpty, type Route, type RouteAuth } from './route.ts'

type Json = Readonly<Record<string, unknown>>

/** The version of the API's description, which is not that of the program. */
const VERSION = '1.0.0'
/** Errors that every route that needs a key can give, and those that any route can. */
const KEY_ERRORS: readonly CloudErrorCode[] = ['UNAUTHORIZED', 'FORBIDDEN']
const ANY_ERRORS: readonly CloudErrorCode[] = ['INTERNAL', 'UNAVAILABLE']

/** Errors that can say when to come back. */
const RETRIED_ERRORS: ReadonlySet<CloudErrorCode> = new Set([
  'RATE_LIMITED',
  'UNAVAILABLE',
  'DEPLOY-AT-CAPACITY',
  'DEPLOY-NOT-READY',
])
const RETRY_AFTER: Json = {
  'Retry-After': {
    description: 'In how many seconds to come back.',
    schema: { type: 'integer', minimum: 0 },
  },
}

const METHODS_WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])
/** What is up to the bot. */
const ANY_QUERY: Json = {
  ...{ name: 'query', in: 'query', required: false, style: 'form', explode: true },
  description: 'Any parameters; they go through as they are.',
  schema: { type: 'object', additionalProperties: { type: 'string' } },
}
const ANY_ANSWER: Json = {
  description: 'What the bot or its runner answers, as it is.',
  content: { '*/*': {} },
}

/** The shapes that have a name in the document. */
const NAMES: ReadonlyMap<z.ZodType, string> = new Map<z.ZodType, string>([
  [cloudErrorBody, 'Error'],
  [wire.buildRecord, 'Build'],
  [wire.buildFailure, 'BuildFailure'],
  [wire.uploadUrlRequest, 'UploadUrlRequest'],
  [wire.uploadUrlResponse, 'UploadUrlResponse'],
  [wire.createBuildRequest, 'CreateBuildRequest'],
  [wire.createBuildResponse, 'CreateBuildResponse'],
  [wire.buildResponse, 'BuildResponse'],
  [wire.buildListResponse, 'BuildListResponse'],
  [wire.buildLogsResponse, 'BuildLogsResponse'],
  [wire.keyRecord, 'Key'],
  [wire.createKeyRequest, 'CreateKeyRequest'],
  [wire.createKeyResponse, 'CreateKeyResponse'],
  [wire.keyListResponse, 'KeyListResponse'],
  [wire.putSecretsRequest, 'PutSecretsRequest'],
  [wire.putSecretsResponse, 'PutSecretsResponse'],
  [wire.secretSetListResponse, 'SecretSetListResponse'],
  [wire.secretSetResponse, 'SecretSetResponse'],
  [wire.okResponse, 'OkResponse'],
  [wire.regionListResponse, 'RegionListResponse'],
  [wire.propertiesResponse, 'PropertiesResponse'],
  [wire.patchPropertiesRequest, 'PatchPropertiesRequest'],
  [wire.propertiesSchemaResponse, 'PropertiesSchemaResponse'],
  [wire.createAgentRequest, 'CreateAgentRequest'],
  [wire.updateAgentRequest, 'UpdateAgentRequest'],
  [wire.agentDetails, 'Agent'],
  [wire.agentListItem, 'AgentListItem'],
  [wire.agentListResponse, 'AgentListResponse'],
  [wire.deploymentRecord, 'Deployment'],
  [wire.deployFailure, 'DeployFailure'],
  [wire.deploymentListResponse, 'DeploymentListResponse'],
  [wire.revisionInfo, 'Revision'],
  [wire.instanceRecord, 'Instance'],
  [wire.rollbackRequest, 'RollbackRequest'],
  [wire.promoteRequest, 'PromoteRequest'],
  [wire.agentLogEntry, 'AgentLogEntry'],
  [wire.agentLogsResponse, 'AgentLogsResponse'],
  [wire.sessionRecord, 'Session'],
  [wire.sessionOutcome, 'SessionOutcome'],
  [wire.sessionListResponse, 'SessionListResponse'],
  [wire.stopSessionResponse, 'StopSessionResponse'],
  [startRequestSchema, 'StartRequest'],
  [wire.publicStartResponse, 'StartResponse'],
])

/** The OpenAPI 3.1 document of some routes. */
export function openApiOf(routes: readonly Route[]): Json {
  const requests = new Set(routes.flatMap(({ body }) => body ?? []))
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operationOf(route) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Bot cloud',
      version: VERSION,
      description:
        'Agents, their sessions and logs; builds, secrets and keys. Every error is an object with error and code.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        PrivateKey: { type: 'http', scheme: 'bearer', description: 'A private key, sk_…' },
        PublicKey: { type: 'http', scheme: 'bearer', description: 'A public key, pk_…' },
      },
      schemas: namedSchemas(requests),
    },
  }
}

function namedSchemas(requests: ReadonlySet<z.ZodType>): Json {
  const input = z.registry<{ id: string }>()
  const output = z.registry<{ id: string }>()
  for (const [schema, id] of NAMES) (requests.has(schema) ? input : output).add(schema, { id })
  const uri = (id: string): string => `#/components/schemas/${id}`
  const all = {
    ...z.toJSONSchema(input, { uri, io: 'input' }).schemas,
    ...z.toJSONSchema(output, { uri, io: 'output' }).schemas,
  }
  return Object.fromEntries(
    Object.entries(all).map(([id, { $id: _id, $schema: _schema, ...schema }]) => [id, schema]),
  )
}

function operationOf(route: Route): Json {
  const { operationId, tag, summary, auth, body, form, passesThrough } = route
  const takesBody = passesThrough && METHODS_WITH_BODY.has(route.method)
  const parameters = [
    ...pathParameters(route),
    ...parametersOf('query', route.query),
    ...(passesThrough ? [ANY_QUERY] : []),
    ...parametersOf('header', route.headers),
  ]
  return {
    operationId,
    tags: [tag],
    summary,
    security: securityOf(auth),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: { required: !mayBeEmpty(route), content: contentOf('application/json', body, 'input') },
    }),
    ...(form && {
      requestBody: { required: true, content: contentOf('multipart/form-data', form, 'input') },
    }),
    ...(takesBody && { requestBody: { content: { '*/*': {} } } }),
    responses: { ...answersOf(route), ...errorsOf(route), ...(passesThrough && { default: ANY_ANSWER }) },
  }
}

function securityOf(auth: RouteAuth): readonly Json[] {
  if (auth === 'private') return [{ PrivateKey: [] }]
  return auth === 'public' ? [{ PublicKey: [] }] : []
}

function pathParameters({ params }: Route): readonly Json[] {
  return Object.entries(params).map(([name, schema]) => ({
    name,
    in: 'path',
    required: true,
    schema: inline(schema, 'input'),
  }))
}

function parametersOf(place: 'query' | 'header', all: z.ZodObject | undefined): readonly Json[] {
  if (!all) return []
  const { properties = {}, required = [] } = z.toJSONSchema(all, { io: 'input' })
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: place,
    required: required.includes(name),
    schema,
  }))
}

function answersOf({ answers, otherTypes }: Route): Json {
  return Object.fromEntries(
    Object.entries(answers).map(([status, schema]) => {
      const others = otherTypes.map((type) => [type, { schema: { type: 'string' } }])
      const content = schema && {
        ...contentOf('application/json', schema, 'output'),
        ...Object.fromEntries(others),
      }
      return [status, { description: 'Done.', ...(content && { content }) }]
    }),
  )
}

function errorsOf({ auth, errors, body }: Route): Json {
  const codes: readonly CloudErrorCode[] = [
    // If only for a query that it does not know.
    'INVALID_REQUEST',
    ...(auth === 'none' ? [] : auth === 'upload' ? (['UNAUTHORIZED'] as const) : KEY_ERRORS),
    ...(body ? (['PAYLOAD_TOO_LARGE'] as const) : []),
    ...errors,
    ...ANY_ERRORS,
  ]
  // Many errors have the same status.
  const statuses = new Set(codes.map((code) => CLOUD_ERRORS[code].status))
  return Object.fromEntries(
    [...statuses].map((status) => {
      const all = new Set(codes.filter((code) => CLOUD_ERRORS[code].status === status))
      return [status, refusalOf([...all])]
    }),
  )
}

function refusalOf(codes: readonly CloudErrorCode[]): Json {
  return {
    description: codes.map((code) => `${code}: ${CLOUD_ERRORS[code].meaning}`).join('\n\n'),
    ...(codes.some((code) => RETRIED_ERRORS.has(code)) && { headers: RETRY_AFTER }),
    content: contentOf('application/json', cloudErrorBody, 'output'),
  }
}

function contentOf(type: string, schema: z.ZodType, io: 'input' | 'output'): Json {
  const name = NAMES.get(schema)
  return { [type]: { schema: name ? { $ref: `#/components/schemas/${name}` } : inline(schema, io) } }
}

function inline(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _schema, ...rest } = z.toJSONSchema(schema, { io })
  return rest
}
