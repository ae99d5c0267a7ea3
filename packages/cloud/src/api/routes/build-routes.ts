import {
  BUILD_LIST_LIMIT,
  BUILD_LOG_LIMIT,
  buildListResponse,
  buildLogsResponse,
  buildResponse,
  buildStatus,
  createBuildRequest,
  createBuildResponse,
  DEFAULT_DOCKERFILE,
  okResponse,
  uploadUrlRequest,
  uploadUrlResponse,
} from '@botcli/protocol/cloud'
import * as z from 'zod'
import type { BuildService } from '../../builds/build-service.ts'
import { readUploadForm } from '../../builds/uploads/multipart.ts'
import type { UploadService } from '../../builds/uploads/upload-service.ts'
import { CloudError } from '../../errors.ts'
import { type Route, route } from '../route.ts'

/** Ids of builds. */
export const buildId = z.guid().toLowerCase()

const { min, max, default: usual } = BUILD_LIST_LIMIT
const listQuery = z.strictObject({
  status: buildStatus.optional(),
  region: z.string().max(100).optional(),
  contextHash: z.string().max(100).optional(),
  dockerfilePath: z.string().max(512).optional(),
  reusable: z
    .enum(['true', 'false'])
    .optional()
    .describe('Only the one that a new build of this contextHash, region and dockerfilePath would be given.'),
  limit: z.int().min(min).max(max).default(usual),
  offset: z.int().min(0).max(1_000_000_000).optional(),
  cursor: z.string().max(200).optional(),
})
const logsQuery = z.strictObject({
  limit: z.int().min(BUILD_LOG_LIMIT.min).max(BUILD_LOG_LIMIT.max).default(BUILD_LOG_LIMIT.default),
  nextToken: z.string().optional(),
})
const logsHeaders = z.object({
  'Last-Event-ID': z.string().optional().describe('Where an event stream goes on: after this line.'),
  'If-None-Match': z.string().optional().describe('An ETag; an unchanged log is 304.'),
})
const uploadForm = z.object({
  key: z.string(),
  expires: z.string(),
  token: z.string(),
  file: z.string().meta({ contentMediaType: 'application/gzip' }),
})

/** What makes two builds the same, as far as it can be told before they are made. */
function sameBuild({ contextHash, region, dockerfilePath = DEFAULT_DOCKERFILE }: z.infer<typeof listQuery>) {
  if (contextHash !== undefined && region !== undefined) return { contextHash, region, dockerfilePath }
  throw new CloudError('INVALID_REQUEST', 'reusable needs contextHash and region beside it.')
}

/** What the routes call. */
export interface BuildRoutesOptions {
  readonly builds: BuildService
  readonly uploads: UploadService
  /** The address that takes the form of an upload, for whoever asked by this request. */
  readonly uploadUrl: (uploadId: string, headers: NodeJS.Dict<string | string[]>) => string
}

/** Builds and the uploads that they are made of. */
export function buildRoutes({ builds, uploads, uploadUrl }: BuildRoutesOptions): readonly Route[] {
  const tag = 'Builds'
  return [
    route({
      method: 'POST',
      path: '/v1/builds/upload-url',
      operationId: 'getBuildUploadUrl',
      tag,
      summary: 'Gives a place to upload a build context to. It lives 15 minutes.',
      body: uploadUrlRequest,
      answers: { 200: uploadUrlResponse },
      handle: async ({ organizationId, body, incoming }) => ({
        status: 200,
        body: await uploads.create(organizationId, body.region, (id) => uploadUrl(id, incoming.headers)),
      }),
    }),
    route({
      method: 'POST',
      path: '/v1/uploads/{uploadId}',
      operationId: 'uploadBuildContext',
      tag,
      summary:
        'Takes a build context: a form with all the given fields, then the field file, a gzip-compressed tar.',
      auth: 'upload',
      params: { uploadId: z.guid().toLowerCase() },
      form: uploadForm,
      answers: { 204: undefined },
      errors: ['CONFLICT', 'PAYLOAD_TOO_LARGE'],
      handle: async ({ params, incoming }) => {
        const form = await readUploadForm(incoming, incoming.headers['content-type'])
        if (!uploads.isAllowed(params.uploadId, form.fields)) {
          throw new CloudError(
            'UNAUTHORIZED',
            'The fields of the form are not those that this upload was given.',
          )
        }
        await uploads.receive(params.uploadId, form.fields, form.file)
        return { status: 204 }
      },
    }),
    route({
      method: 'POST',
      path: '/v1/builds',
      operationId: 'createBuild',
      tag,
      summary: 'Builds an uploaded context, or gives the successful build of the same one.',
      body: createBuildRequest,
      answers: { 200: createBuildResponse, 201: createBuildResponse },
      errors: ['NOT_FOUND', 'PAYLOAD_TOO_LARGE', 'RATE_LIMITED'],
      handle: async ({ organizationId, body }) => {
        const answer = await builds.create(organizationId, body)
        return { status: answer.cached ? 200 : 201, body: answer }
      },
    }),
    route({
      method: 'GET',
      path: '/v1/builds',
      operationId: 'listBuilds',
      tag,
      summary: 'Lists builds, newest first.',
      query: listQuery,
      answers: { 200: buildListResponse },
      handle: async ({ organizationId, query }) => {
        if (query.cursor !== undefined && query.offset !== undefined) {
          throw new CloudError('INVALID_REQUEST', 'cursor and offset cannot both be given.')
        }
        const { offset = 0, limit, cursor, reusable, ...wanted } = query
        if (reusable === 'true') {
          return { status: 200, body: await builds.reusable(organizationId, sameBuild(query)) }
        }
        const filter = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined))
        return { status: 200, body: await builds.list(organizationId, { ...filter, limit, offset, cursor }) }
      },
    }),
    route({
      method: 'GET',
      path: '/v1/builds/{buildId}',
      operationId: 'getBuild',
      tag,
      summary: 'Gives a build.',
      params: { buildId },
      answers: { 200: buildResponse },
      errors: ['NOT_FOUND'],
      handle: async ({ organizationId, params }) => ({
        status: 200,
        body: { build: await builds.get(organizationId, params.buildId) },
      }),
    }),
    route({
      method: 'GET',
      path: '/v1/builds/{buildId}/logs',
      operationId: 'getBuildLogs',
      tag,
      summary: 'Gives the newest lines of a log, oldest first; nextToken leads to older ones.',
      params: { buildId },
      query: logsQuery,
      headers: logsHeaders,
      answers: { 200: buildLogsResponse, 304: undefined },
      errors: ['NOT_FOUND', 'RATE_LIMITED'],
      otherTypes: ['text/event-stream', 'text/plain'],
    }),
    route({
      method: 'POST',
      path: '/v1/builds/{buildId}/cancel',
      operationId: 'cancelBuild',
      tag,
      summary: 'Cancels a build that is not over. One that is over stays as it is.',
      params: { buildId },
      answers: { 200: buildResponse },
      errors: ['NOT_FOUND', 'CONFLICT'],
      handle: async ({ organizationId, params }) => ({
        status: 200,
        body: { build: await builds.cancel(organizationId, params.buildId) },
      }),
    }),
    route({
      method: 'DELETE',
      path: '/v1/builds/{buildId}',
      operationId: 'deleteBuild',
      tag,
      summary: 'Cancels a build that is not over; removes one that is, with its log.',
      params: { buildId },
      answers: { 200: okResponse },
      errors: ['NOT_FOUND', 'CONFLICT'],
      handle: async ({ organizationId, params }) => {
        await builds.cancelOrRemove(organizationId, params.buildId)
        return { status: 200, body: { status: 'OK' } }
      },
    }),
  ]
}
