import type { BuildRecord } from '@botcli/protocol/cloud'
import type { StoredBuild, Time } from '../store/store.ts'

/** A build as the API shows it. */
export function buildRecordOf(build: StoredBuild): BuildRecord {
  const { startedAt, completedAt } = build
  return {
    id: build.id,
    organizationId: build.organizationId,
    status: build.status,
    region: build.region,
    contextHash: build.contextHash,
    dockerfilePath: build.dockerfilePath,
    imageUri: build.imageUri,
    errorMessage: build.errorMessage,
    failure: build.failure,
    contextSizeBytes: build.contextSizeBytes,
    imageSizeBytes: build.imageSizeBytes,
    buildDurationSeconds:
      startedAt === null || completedAt === null ? null : Math.max(0, completedAt - startedAt) / 1000,
    startedAt: iso(startedAt),
    completedAt: iso(completedAt),
    createdAt: new Date(build.createdAt).toISOString(),
    updatedAt: new Date(build.updatedAt).toISOString(),
  }
}

function iso(time: Time | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}
