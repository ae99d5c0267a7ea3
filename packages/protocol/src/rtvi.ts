import { z } from 'zod'
import type { SessionOutcome, TurnLatency } from './sessions.ts'

/** The version of the RTVI protocol that we speak. */
export const RTVI_VERSION = '2.2.0'
export const RTVI_LABEL = 'rtvi-ai'

/** The envelope of every RTVI message. */
export const rtviMessageSchema = z.object({
  label: z.literal(RTVI_LABEL),
  type: z.string(),
  id: z.string(),
  data: z.unknown().optional(),
})
export type RtviMessage = z.infer<typeof rtviMessageSchema>

/** Builds a message; `undefined` data is left out of the wire. */
export function rtviMessage(
  type: string,
  data?: unknown,
  id: string = crypto.randomUUID().slice(0, 8),
): RtviMessage {
  return data === undefined ? { label: RTVI_LABEL, type, id } : { label: RTVI_LABEL, type, id, data }
}

/** An `error` that old and new clients both understand: they disagree on where its text is. */
export function rtviError(message: string, fatal: boolean): RtviMessage {
  return rtviMessage('error', { error: message, message, fatal })
}

/** The last message of a session. The outcome goes along for clients that can tell an end from a failure. */
export function rtviEnd(outcome: SessionOutcome): RtviMessage {
  return rtviMessage('error', { error: outcome.message, message: outcome.message, fatal: true, outcome })
}

/** One turn's delays as a `metrics` message, which every published client knows. Values are seconds. */
export function rtviLatency(latency: TurnLatency): RtviMessage {
  return rtviMessage('metrics', {
    processing: [
      { processor: 'wire-in', value: latency.wireInMs / 1000 },
      { processor: 'bot', value: latency.botMs / 1000 },
      { processor: 'wire-out', value: latency.wireOutMs / 1000 },
    ],
  })
}

/** `client-ready`. */
export const clientReadySchema = z.object({ version: z.string().optional(), about: z.unknown().optional() })

/** `client-message`: a request that waits for `server-response`. */
export const clientMessageSchema = z.object({ t: z.string(), d: z.unknown().optional() })

/** The first message of an eval: a `client-message` whose `t` says so. */
export const evalConnectSchema = z.object({
  label: z.literal(RTVI_LABEL),
  type: z.literal('client-message'),
  data: z.object({ t: z.literal('eval-connect') }),
})

/** `send-text`. */
export const sendTextSchema = z.object({
  content: z.string(),
  options: z
    .object({ run_immediately: z.boolean().optional(), audio_response: z.boolean().optional() })
    .optional(),
})

/** `dtmf`: version 2.0 sends one `button`, later ones `buttons`. */
export const rtviDtmfSchema = z.union([
  z.object({ buttons: z.array(z.string()).min(1).max(64) }),
  z.object({ button: z.string() }),
])
