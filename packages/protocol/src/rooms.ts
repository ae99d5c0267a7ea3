import { z } from 'zod'

/** Where the room provider answers when nobody says otherwise. */
export const DEFAULT_ROOM_API_URL = 'https://api.daily.co/v1'

/** `POST /rooms` of the room provider. */
export interface CreateRoomRequest {
  readonly name: string
  readonly privacy: 'private'
  readonly properties: Readonly<Record<string, unknown>>
}

/** What of the provider's answer is used. `exp` is in seconds, and the last word on when the room is over. */
export const createdRoomSchema = z.object({
  name: z.string().min(1),
  url: z.url({ protocol: /^https?$/ }),
  config: z
    .object({
      exp: z.number().optional(),
      sip_uri: z.object({ endpoint: z.string().min(1) }).optional(),
    })
    .default({}),
})
export type CreatedRoom = z.infer<typeof createdRoomSchema>

/** `POST /meeting-tokens` of the room provider. */
export interface CreateTokenRequest {
  readonly properties: Readonly<Record<string, unknown>> & { readonly room_name: string }
}

/** Its answer. */
export const createdTokenSchema = z.object({ token: z.string().min(1) })

/** How the room provider says no. */
export const roomRefusalSchema = z.object({ error: z.string().optional(), info: z.string().optional() })
