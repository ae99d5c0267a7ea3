import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { type DoubleAnswer, HttpDouble, type SeenRequest } from './room-provider-double.ts'

/** What both sides know. */
export const WHATSAPP_CONFIG = {
  appSecret: 'secret-of-the-app',
  phoneNumberId: '106540352242922',
  token: 'secret-token-for-calls',
  verificationToken: 'secret-word-for-verification',
} as const

const callId = z.string().startsWith('wacid.')
const session = z.strictObject({ sdp: z.string().startsWith('v=0'), sdp_type: z.literal('answer') })
const common = { messaging_product: z.literal('whatsapp'), call_id: callId }
const actionSchema = z.discriminatedUnion('action', [
  z.strictObject({ ...common, action: z.literal('pre_accept'), to: z.string(), session }),
  z.strictObject({ ...common, action: z.literal('accept'), to: z.string(), session }),
  z.strictObject({ ...common, action: z.literal('reject') }),
  z.strictObject({ ...common, action: z.literal('terminate') }),
])
type Action = z.infer<typeof actionSchema>

/** The messaging provider: its REST API for calls, and the webhook calls that it makes. */
export class WhatsappDouble extends HttpDouble {
  /** Every action that was taken, as `action call`. */
  readonly actions: string[] = []
  /** An action that is refused while the others are not. */
  refused: Action['action'] | undefined
  /** Called before an action is answered. */
  onAction: (action: Action['action']) => void = () => {}

  get config() {
    return { ...WHATSAPP_CONFIG, apiUrl: `${this.url}/v23.0` }
  }

  /** A webhook call, signed as the provider does. */
  webhook(payload: unknown, secret: string = WHATSAPP_CONFIG.appSecret) {
    const body = Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload))
    const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
    const headers: Record<string, string> = { 'x-hub-signature-256': signature }
    return { header: (name: string) => headers[name.toLowerCase()], body }
  }

  protected refuse({ headers }: SeenRequest): DoubleAnswer {
    return { status: 401, json: { error: { message: `not with ${headers.authorization}`, code: 190 } } }
  }

  protected answer({ method, path, headers, body }: SeenRequest): DoubleAnswer {
    if (headers.authorization !== `Bearer ${WHATSAPP_CONFIG.token}`) return this.#invalid(401, 'wrong token')
    if (method !== 'POST' || path !== `/v23.0/${WHATSAPP_CONFIG.phoneNumberId}/calls`) {
      return this.#invalid(404, `${method} ${path}`)
    }
    if (headers['content-type'] !== 'application/json') return this.#invalid(400, 'not JSON')
    const { data, error } = actionSchema.safeParse(JSON.parse(body))
    if (!data) return this.#invalid(400, z.prettifyError(error))
    this.actions.push(`${data.action} ${data.call_id}`)
    this.onAction(data.action)
    if (data.action === this.refused) return { status: 400, json: { error: { message: 'not now' } } }
    if ('session' in data && /fingerprint:(?!sha-256)/.test(data.session.sdp)) {
      return this.#invalid(400, 'a fingerprint that is not sha-256')
    }
    return { status: 200, json: { messaging_product: 'whatsapp', success: true } }
  }

  #invalid(status: number, message: string): DoubleAnswer {
    return this.complain(status, message, { error: { message } })
  }
}

/** What the provider sends when somebody calls. */
export function connectPayload(id = 'wacid.1', call: object = {}, metadata: object = {}): object {
  return payload({
    messaging_product: 'whatsapp',
    metadata: {
      display_phone_number: '15550002222',
      phone_number_id: WHATSAPP_CONFIG.phoneNumberId,
      ...metadata,
    },
    contacts: [{ profile: { name: 'Ada' }, wa_id: '15550001111' }],
    calls: [
      {
        id,
        from: '15550001111',
        to: '15550002222',
        event: 'connect',
        timestamp: '1762216151',
        direction: 'USER_INITIATED',
        session: { sdp: 'v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\n', sdp_type: 'offer' },
        ...call,
      },
    ],
  })
}

/** What the provider sends when the call is over. */
export function terminatePayload(id = 'wacid.1'): object {
  const call = { id, from: '15550001111', to: '15550002222', event: 'terminate', timestamp: '1762216200' }
  return payload({
    messaging_product: 'whatsapp',
    metadata: { display_phone_number: '15550002222', phone_number_id: WHATSAPP_CONFIG.phoneNumberId },
    calls: [{ ...call, direction: 'USER_INITIATED', status: 'COMPLETED', duration: 49 }],
  })
}

function payload(value: object): object {
  return {
    object: 'whatsapp_business_account',
    entry: [{ id: '102290129340398', changes: [{ value, field: 'calls' }] }],
  }
}
