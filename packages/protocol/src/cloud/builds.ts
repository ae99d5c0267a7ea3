import * as z from 'zod'
import { time } from './fields.ts'

/** The states of a build, in order; the last three are final. */
export const BUILD_STATUSES = ['pending', 'building', 'success', 'failed', 'timeout'] as const
/** Where a build stands. */
export const buildStatus = z.enum(BUILD_STATUSES)
export type BuildStatus = z.infer<typeof buildStatus>

/** Whether a build is over. */
export function isFinal(status: BuildStatus): boolean {
  return status === 'success' || status === 'failed' || status === 'timeout'
}

/** Why a build failed, in one word, and what the word means. */
export const BUILD_FAILURES = {
  dockerfile_missing: 'The context has no container build file at that path.',
  dockerfile_syntax: 'The container build file cannot be read, or asks for a stage that is not there.',
  copy_source_missing: 'A file that is to be copied is not in the context.',
  base_image_missing: 'The image after FROM was not found, or its registry not reached.',
  install_failed: 'An installer of packages failed.',
  dependency_missing: 'The code imports a package that was not installed.',
  command_failed: 'Another command failed, or the bot was not found or cannot be loaded.',
  out_of_memory: 'The build took more memory than it may.',
  out_of_disk: 'The build took more disk space than it may, or the disk is full.',
  cancelled: 'Somebody cancelled it.',
  builder_lost: 'The cloud ended or was killed while it was building. Nothing is wrong with the build.',
  builder_failed: 'The builder itself failed, lacks a tool, or there is none.',
} as const
export type FailureCode = keyof typeof BUILD_FAILURES
/** All codes of failures. */
export const FAILURE_CODES = Object.keys(BUILD_FAILURES) as readonly FailureCode[]

/** What went wrong, where, and what to do about it. */
export const buildFailure = z.strictObject({
  code: z.enum(FAILURE_CODES),
  /** The instruction of the container build file, such as `RUN uv sync`. */
  step: z.string().nullable(),
  /** Its line in that file, from 1. */
  line: z.number().int().min(1).nullable(),
  hint: z.string(),
})
export type BuildFailure = z.infer<typeof buildFailure>

/** A build as the API shows it. */
export const buildRecord = z.strictObject({
  id: z.uuid(),
  organizationId: z.uuid(),
  status: buildStatus,
  region: z.string(),
  /** sha256 of the canonical manifest of the context, in hex. */
  contextHash: z.string(),
  dockerfilePath: z.string(),
  /** The artifact, of a successful build. */
  imageUri: z.string().nullable(),
  errorMessage: z.string().nullable(),
  failure: buildFailure.nullable(),
  contextSizeBytes: z.number().int(),
  imageSizeBytes: z.number().int().nullable(),
  buildDurationSeconds: z.number().nullable(),
  startedAt: time.nullable(),
  completedAt: time.nullable(),
  createdAt: time,
  updatedAt: time,
})
export type BuildRecord = z.infer<typeof buildRecord>

/** Asks for a place to upload a context to. */
export const uploadUrlRequest = z.strictObject({ region: z.string() })
/** A place, and what has to be sent with the context. */
export const uploadUrlResponse = z.strictObject({
  uploadId: z.uuid(),
  uploadUrl: z.string(),
  uploadFields: z.record(z.string(), z.string()),
  expiresAt: time,
})
export type UploadUrlResponse = z.infer<typeof uploadUrlResponse>

/** Where the container build file is unless the request says otherwise. */
export const DEFAULT_DOCKERFILE = 'Dockerfile'
/** A relative path inside of the context. */
const contextPath = z
  .string()
  .min(1)
  .max(512)
  .refine((path) => !path.startsWith('/') && !path.split('/').includes('..') && !/[\\\p{Cc}]/u.test(path), {
    error: 'must be a relative path inside of the context, with / between its parts',
  })

/** Asks for a build of an uploaded context. */
export const createBuildRequest = z.strictObject({
  uploadId: z.uuid().toLowerCase(),
  region: z.string(),
  dockerfilePath: contextPath.default(DEFAULT_DOCKERFILE),
  noCache: z.boolean().default(false),
})
export type CreateBuildRequest = z.infer<typeof createBuildRequest>
/** A new build, or the same from before. */
export const createBuildResponse = z.strictObject({
  build: buildRecord,
  contextHash: z.string(),
  cached: z.boolean(),
})
export type CreateBuildResponse = z.infer<typeof createBuildResponse>

/** One build. */
export const buildResponse = z.strictObject({ build: buildRecord })
/** A page of the list of builds. */
export const buildListResponse = z.strictObject({
  builds: z.array(buildRecord),
  total: z.number().int(),
  limit: z.number().int(),
  offset: z.number().int(),
  nextCursor: z.string().optional(),
})
export type BuildListResponse = z.infer<typeof buildListResponse>

/** Limits of the list of builds. */
export const BUILD_LIST_LIMIT = { min: 1, max: 100, default: 20 } as const

/** Limits of a read of a build's log. */
export const BUILD_LOG_LIMIT = { min: 1, max: 10_000, default: 500 } as const
/** A page of a log. */
export const buildLogsResponse = z.strictObject({
  logs: z.array(z.string()),
  nextToken: z.string().optional(),
})
export type BuildLogsResponse = z.infer<typeof buildLogsResponse>

/** The last event of a followed log. */
export const buildLogEnd = z.strictObject({
  status: buildStatus,
  lines: z.number().int(),
  /** Of all kept lines, each with a newline after it, in hex. */
  sha256: z.string(),
})
export type BuildLogEnd = z.infer<typeof buildLogEnd>
