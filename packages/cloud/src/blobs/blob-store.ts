import type { Readable } from 'node:stream'

/** Large things by name: uploaded contexts, artifacts. Files on one machine, S3 when one is too small. */
export interface BlobStore {
  /** Writes all of a stream, or nothing; more bytes than `maxBytes` are a CloudError PAYLOAD_TOO_LARGE. */
  put(name: string, content: Readable, maxBytes: number): Promise<{ readonly size: number }>
  /** How many bytes it has; nothing if there is no such blob. */
  size(name: string): Promise<number | undefined>
  /** Nothing if there is no such blob. */
  get(name: string): Promise<Readable | undefined>
  remove(name: string): Promise<void>
}
