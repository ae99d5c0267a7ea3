import { randomUUID } from 'node:crypto'
import type { BuildEnd, StoredBuild, Upload } from '../store/store.ts'

/** An end that is good. */
export const SUCCESS: BuildEnd = {
  status: 'success',
  imageUri: 'image',
  imageSizeBytes: 5,
  errorMessage: null,
  failure: null,
  builder: 'b 1',
  bases: [{ name: 'python:3.11', id: 'sha256:1' }],
}

/** An end that is not. */
export const FAILED: BuildEnd = {
  status: 'failed',
  imageUri: null,
  imageSizeBytes: null,
  errorMessage: 'no',
  failure: { code: 'install_failed', step: 'RUN x', line: 3, hint: 'h' },
  builder: null,
  bases: [],
}

/** A place for an upload. */
export function sampleUpload(changes: Partial<Upload> & Pick<Upload, 'organizationId'>): Upload {
  return {
    id: randomUUID(),
    region: 'local',
    expiresAt: 100,
    contextHash: null,
    contextSizeBytes: null,
    createdAt: 1,
    ...changes,
  }
}

/** A build that waits. */
export function sampleBuild(
  changes: Partial<StoredBuild> & Pick<StoredBuild, 'organizationId'>,
): StoredBuild {
  return {
    id: randomUUID(),
    status: 'pending',
    region: 'local',
    uploadId: randomUUID(),
    contextHash: 'hash',
    contextSizeBytes: 7,
    dockerfilePath: 'Dockerfile',
    noCache: false,
    imageUri: null,
    imageSizeBytes: null,
    errorMessage: null,
    failure: null,
    builder: null,
    bases: [],
    outcome: null,
    cancelRequested: false,
    createdAt: 10,
    updatedAt: 10,
    startedAt: null,
    completedAt: null,
    ...changes,
  }
}
