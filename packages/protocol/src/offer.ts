import { z } from 'zod'
import { freeFormObject } from './start.ts'

/**
 * `POST /api/offer` as the published WebRTC client sends it. It spells its own data `requestData`, other
 * clients `request_data`; both are heard.
 */
export const offerRequestSchema = z.object({
  sdp: z.string(),
  type: z.literal('offer'),
  pc_id: z.string().nullish(),
  restart_pc: z.boolean().nullish(),
  requestData: freeFormObject.nullish(),
  request_data: freeFormObject.nullish(),
})
export type OfferRequest = z.infer<typeof offerRequestSchema>

/** Answer to an offer. */
export interface OfferAnswer {
  readonly sdp: string
  readonly type: 'answer'
  readonly pc_id: string
  /** So that a client that did not call `/start` also knows its session. */
  readonly sessionId: string
}

/** `PATCH /api/offer`: candidates that the client found after its offer. Firefox sends nulls here. */
export const candidatesRequestSchema = z.object({
  pc_id: z.string(),
  candidates: z
    .array(
      z.object({
        candidate: z.string(),
        sdp_mid: z.string().nullish(),
        sdp_mline_index: z.number().int().nullish(),
      }),
    )
    .max(200),
})
export type CandidatesRequest = z.infer<typeof candidatesRequestSchema>

/** One candidate line and the media section that it belongs to. */
export interface IceCandidate {
  readonly candidate: string
  readonly mid: string
}
