import { z } from 'zod'

/** Ids, names and phone numbers, as carriers write them. */
export const carrierText = z.string().min(1).max(256)

/** Carriers count in numbers, or in digits. */
export const carrierCount = z.union([z.number().int().nonnegative(), z.string().regex(/^\d{1,15}$/)])

const base64 = z.string().regex(/^[A-Za-z0-9+/]*={0,2}$/, 'is not base64')

/** Sound of a carrier, in base64. Ten times what one ever sends in a message. */
export const carrierPayload = base64.max(64 * 1024)

/** Sound for a carrier, in base64; each of them has a rule of its own. */
export const botPayload = base64.max(256 * 1024)

/** One key of a phone. */
export const carrierKey = z.string().regex(/^[0-9A-D*#]$/)

/** What the user of a carrier gave to be handed on with the call. */
export const carrierParameters = z.record(z.string(), z.unknown())

/** A field that a call can do without: nonsense in it must not cost the call. */
export function lenient<Schema extends z.ZodType>(schema: Schema) {
  return schema.optional().catch(undefined)
}

/** A piece of sound. All carriers spell it alike; `chunk` counts the pieces. */
export const carrierMedia = z.object({
  track: lenient(z.string()),
  chunk: lenient(carrierCount),
  timestamp: lenient(carrierCount),
  payload: carrierPayload,
})
export type CarrierMedia = z.infer<typeof carrierMedia>

/** A place in the sound. */
export const carrierMark = z.object({ name: carrierText })
