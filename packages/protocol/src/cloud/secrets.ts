import * as z from 'zod'

/** Names of secret sets. */
export const secretSetName = z
  .string()
  .min(3)
  .max(63)
  .regex(/^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/, {
    error:
      'must be lower case letters, digits, hyphens and dots, beginning and ending with a letter or digit',
  })
/** Names of variables in a set. */
export const secretKeyName = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[a-zA-Z_][a-zA-Z0-9_]*$/, { error: 'must be a name of an environment variable' })

/** The largest value of a secret, in characters. */
export const MAX_SECRET_LENGTH = 64 * 1024

const values = z.strictObject({
  secrets: z
    .array(z.strictObject({ secretKey: secretKeyName, secretValue: z.string().max(MAX_SECRET_LENGTH) }))
    .min(1)
    .max(200)
    .refine((secrets) => new Set(secrets.map(({ secretKey }) => secretKey)).size === secrets.length, {
      error: 'must not have a secretKey twice',
    }),
  region: z.string().optional(),
})
/** What is no base64 at all is refused before, but asked about all the same. */
function isUserAndToken(text: string): boolean {
  try {
    return /^[^:]+:./s.test(atob(text))
  } catch {
    return false
  }
}

const imagePull = z.strictObject({
  isImagePullSecret: z.literal(true),
  host: z.string().min(1).max(255),
  /** base64 of `user:token`. */
  secretValue: z
    .base64()
    .max(MAX_SECRET_LENGTH)
    .refine(isUserAndToken, { error: 'must be base64 of user:token' }),
  region: z.string().optional(),
})
/** Values are merged into a set that is there; a set never changes its type or its region. */
export const putSecretsRequest = z.union([values, imagePull])
export type PutSecretsRequest = z.infer<typeof putSecretsRequest>
/** The region that the set is in. */
export const putSecretsResponse = z.strictObject({ status: z.literal('OK'), region: z.string() })

/** What a set holds: variables, or what opens a registry. */
export const secretSetType = z.enum(['secret', 'imagePullSecret'])
/** All sets of an organization. */
export const secretSetListResponse = z.strictObject({
  sets: z.array(
    z.strictObject({
      name: z.string(),
      type: secretSetType,
      region: z.string(),
      status: z.literal('ready'),
    }),
  ),
})
export type SecretSetListResponse = z.infer<typeof secretSetListResponse>
/** A set without its values, which never leave. */
export const secretSetResponse = z.strictObject({
  region: z.string(),
  status: z.literal('ready'),
  secrets: z.array(z.strictObject({ fieldName: z.string(), updatedAt: z.iso.datetime() })),
})
export type SecretSetResponse = z.infer<typeof secretSetResponse>

/** What is answered when something was removed. */
export const okResponse = z.strictObject({ status: z.literal('OK') })
