import { z } from 'zod'
import { botRequestSchema, botResponseSchema } from '../bot-request.ts'
import { isShallow, TOO_DEEP } from '../json-depth.ts'
import { sessionTransportSchema } from '../transports.ts'

/** Peers of another number cannot talk to each other. */
export const LINK_VERSION = 1

/** An error as it crosses the link: text only, with the place in the user's code when it is known. */
export const linkErrorSchema = z.object({
  name: z.string(),
  message: z.string(),
  stack: z.string().optional(),
})
export type LinkError = z.infer<typeof linkErrorSchema>

/** A phone call, as its carrier told of it. */
export const phoneCallSchema = z.object({
  callId: z.string(),
  streamId: z.string(),
  from: z.string().optional(),
  to: z.string().optional(),
  custom: z.record(z.string(), z.string()),
  codec: z.string(),
  rate: z.number().int(),
})

/** Everything that `bot(args)` is told, in wire form. */
export const botStartSchema = z.object({
  sessionId: z.string(),
  transport: sessionTransportSchema,
  body: z.record(z.string(), z.unknown()),
  /** The bot speaks its caller's wire itself. */
  passThrough: z.literal(true).optional(),
  webrtc: z.object({ pcId: z.string() }).optional(),
  websocket: z
    .object({
      path: z.string(),
      remoteAddress: z.string(),
      /** Only for a bot that speaks the wire itself, and none that holds a secret. */
      headers: z.record(z.string(), z.string()).optional(),
      /** What the caller put behind its address, for such a bot, too. */
      query: z.string().optional(),
    })
    .optional(),
  call: phoneCallSchema.optional(),
  room: z.object({ roomUrl: z.string(), token: z.string().optional() }).optional(),
})
export type BotStart = Readonly<z.infer<typeof botStartSchema>>

const jsonValue = z.unknown().refine((value) => isShallow(value), TOO_DEEP)
/** A multiple of 50, so that 20 ms are a whole number of samples. */
const sampleRate = z.number().int().min(8000).max(48000).multipleOf(50)

/** What a guest says, as control messages. */
export const guestMessageSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('hello'),
    version: z.number().int(),
    runtime: z.string(),
    pid: z.number().int(),
  }),
  z.object({ type: z.literal('ready'), passThrough: z.literal(true).optional() }),
  z.object({ type: z.literal('load-failed'), error: linkErrorSchema }),
  z.object({
    type: z.literal('format'),
    inputRate: sampleRate,
    outputRate: sampleRate,
  }),
  z.object({ type: z.literal('clear'), epoch: z.number().int().nonnegative() }),
  z.object({ type: z.literal('message'), data: jsonValue }),
  z.object({ type: z.literal('dtmf'), keys: z.string().regex(/^[0-9A-D*#]{1,64}$/) }),
  z.object({ type: z.literal('socket-close'), code: z.number().int(), reason: z.string() }),
  z.object({
    type: z.literal('answer'),
    id: z.number().int(),
    sdp: z.string().optional(),
    pcId: z.string().min(1).optional(),
    error: linkErrorSchema.optional(),
  }),
  z.object({ type: z.literal('peer'), state: z.enum(['connected', 'disconnected', 'closed', 'lost']) }),
  z.object({ type: z.literal('serving') }),
  z.object({
    type: z.literal('response'),
    id: z.number().int(),
    response: botResponseSchema.optional(),
    error: linkErrorSchema.optional(),
  }),
  z.object({ type: z.literal('pong'), id: z.number().int(), rss: z.number().nonnegative() }),
  z.object({
    type: z.literal('end'),
    outcome: z.enum(['returned', 'failed']),
    error: linkErrorSchema.optional(),
  }),
])
export type GuestMessage = z.infer<typeof guestMessageSchema>

/** What a host (the runner while the guest is spare, a media worker afterwards) says, as control messages. */
export const hostMessageSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('refused'), message: z.string() }),
  z.object({ type: z.literal('start'), start: botStartSchema }),
  z.object({ type: z.literal('connected') }),
  z.object({ type: z.literal('disconnected') }),
  z.object({
    type: z.literal('cleared'),
    epoch: z.number().int().nonnegative(),
    playedSamples: z.number().int().nonnegative(),
  }),
  z.object({ type: z.literal('message'), data: jsonValue }),
  z.object({ type: z.literal('dtmf'), keys: z.string() }),
  z.object({ type: z.literal('socket-closed'), code: z.number().int(), reason: z.string() }),
  z.object({
    type: z.literal('offer'),
    id: z.number().int(),
    sdp: z.string(),
    restart: z.boolean(),
  }),
  z.object({
    type: z.literal('candidates'),
    candidates: z.array(z.object({ candidate: z.string(), mid: z.string() })),
  }),
  z.object({ type: z.literal('request'), id: z.number().int(), request: botRequestSchema }),
  z.object({ type: z.literal('ping'), id: z.number().int() }),
  z.object({
    type: z.literal('cancel'),
    cause: z.string(),
    message: z.string(),
    deadlineMs: z.number().int().nonnegative(),
  }),
])
export type HostMessage = z.infer<typeof hostMessageSchema>
