import { z } from 'zod'
import { CARRIER_IDS, type CarrierId, TRANSPORT_IDS } from './transport-table.ts'

// The table is apart from its schemas, so that a page can have it without the validator.
export * from './transport-table.ts'

/** The name of one transport, as the spec spells it. */
export const transportIdSchema = z.enum(TRANSPORT_IDS, {
  error: (issue) =>
    `${JSON.stringify(issue.input)} is not a transport; allowed are ${TRANSPORT_IDS.join(', ')}`,
})
export type TransportId = z.infer<typeof transportIdSchema>

/** How the caller of a session came: by a transport, or as an eval, which nobody can choose or turn off by name. */
export const sessionTransportSchema = z.enum([...TRANSPORT_IDS, 'eval'])
export type SessionTransport = z.infer<typeof sessionTransportSchema>

/** Whether a phone carrier is at the other end. */
export function isCarrier(transport: SessionTransport | undefined): transport is CarrierId {
  return CARRIER_IDS.some((id) => id === transport)
}
