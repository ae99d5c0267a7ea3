import { z } from 'zod'

/** The longest body of a request to a bot, and of its answer: a frame of the link holds it as base64, with room for the headers. */
export const MAX_BOT_BODY_BYTES = 512 * 1024
/** How many headers go with a request or an answer, and how many characters they have in all. */
export const MAX_BOT_HEADERS = 100
export const MAX_BOT_HEADER_CHARS = 32 * 1024

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

const headers = z
  .array(z.tuple([z.string().regex(TOKEN), z.string().regex(VALUE)]).readonly())
  .max(MAX_BOT_HEADERS)
  .refine(
    (list) =>
      list.reduce((sum, [name, value]) => sum + name.length + value.length, 0) <= MAX_BOT_HEADER_CHARS,
    `have more than ${MAX_BOT_HEADER_CHARS} characters in all`,
  )
  .readonly()
const body = z
  .string()
  .max(Math.ceil(MAX_BOT_BODY_BYTES / 3) * 4)
  .regex(BASE64)

/** A request that a session's bot answers itself. */
export const botRequestSchema = z.object({
  method: z.string(),
  /** What follows the session in the address, as it was spelled, from its first slash on. */
  path: z.string().startsWith('/'),
  /** With its question mark; empty without a query. */
  query: z.string(),
  headers,
  /** As base64. */
  body,
})
export type BotRequest = Readonly<z.infer<typeof botRequestSchema>>

/** What a bot answers to a request. */
export const botResponseSchema = z.object({
  status: z.number().int().min(200).max(599),
  headers,
  /** As base64. */
  body,
})
export type BotResponse = Readonly<z.infer<typeof botResponseSchema>>
