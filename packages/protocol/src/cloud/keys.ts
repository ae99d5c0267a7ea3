import * as z from 'zod'
import { time } from './fields.ts'

/** What a key opens: the private API, or the public one. */
export const keyFamily = z.enum(['private', 'public'])
export type KeyFamily = z.infer<typeof keyFamily>

/** What keys begin with. */
export const KEY_PREFIXES = { private: 'sk_', public: 'pk_' } as const satisfies Record<KeyFamily, string>

/** A key as it is listed; the key itself is shown once, when it is made. */
export const keyRecord = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  family: keyFamily,
  /** The first characters of the key, to know it again by. */
  prefix: z.string(),
  createdAt: time,
  lastUsedAt: time.nullable(),
  revokedAt: time.nullable(),
})
export type KeyRecord = z.infer<typeof keyRecord>

/** Asks for a key. */
export const createKeyRequest = z.strictObject({ name: z.string().min(1).max(100), family: keyFamily })
export type CreateKeyRequest = z.infer<typeof createKeyRequest>
/** A new key, which is shown this once. */
export const createKeyResponse = z.strictObject({ key: z.string(), record: keyRecord })
export type CreateKeyResponse = z.infer<typeof createKeyResponse>
/** All keys of an organization. */
export const keyListResponse = z.strictObject({ keys: z.array(keyRecord) })
export type KeyListResponse = z.infer<typeof keyListResponse>
