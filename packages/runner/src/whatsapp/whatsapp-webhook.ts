import { createHmac } from 'node:crypto'
import {
  type WhatsappBody,
  type WhatsappCallsValue,
  type WhatsappConnect,
  whatsappCallSchema,
  whatsappCallsSchema,
  whatsappVerificationSchema,
  whatsappWebhookSchema,
} from '@botcli/protocol'
import type { WhatsappConfig } from '../config.ts'
import { parseJson } from '../http/json-body.ts'
import type { Logger } from '../log/logger.ts'
import { isSame, notVerified, type WebhookRequest } from '../providers/webhook-request.ts'

/** Where the messaging provider tells of calls. */
export const WHATSAPP_PATH = '/whatsapp'

/** What happened to a call. */
export type WhatsappEvent =
  | { readonly kind: 'connect'; readonly callId: string; readonly sdp: string; readonly body: WhatsappBody }
  | { readonly kind: 'terminate'; readonly callId: string }

/** `GET` and `POST /whatsapp`: proves the sender, and finds the calls in what it sends. */
export class WhatsappWebhook {
  readonly #config: WhatsappConfig
  readonly #logger: Logger

  constructor(config: WhatsappConfig, logger: Logger) {
    this.#config = config
    this.#logger = logger
  }

  /** The text with which the provider's question is to be answered. */
  verify(query: Readonly<Record<string, string>>): string {
    const { data } = whatsappVerificationSchema.safeParse(query)
    if (data && isSame(data['hub.verify_token'], this.#config.verificationToken)) return data['hub.challenge']
    throw notVerified('This is not how WhatsApp asks. Compare WHATSAPP_WEBHOOK_VERIFICATION_TOKEN.')
  }

  /** Every call in a webhook call. Nothing is parsed before the signature is right. */
  receive({ header, body }: Pick<WebhookRequest, 'header' | 'body'>): readonly WhatsappEvent[] {
    const expected = createHmac('sha256', this.#config.appSecret).update(body).digest('hex')
    if (!isSame(header('x-hub-signature-256') ?? '', `sha256=${expected}`)) {
      throw notVerified(
        'The signature does not show that this comes from WhatsApp. Compare WHATSAPP_APP_SECRET.',
      )
    }
    const { entry } = parseJson(body, WHATSAPP_PATH, whatsappWebhookSchema, this.#logger)
    return entry
      .flatMap(({ changes }) => changes)
      .filter(({ field }) => field === 'calls')
      .flatMap(({ value }) => this.#eventsOf(value))
  }

  /** What we do not understand is left out: an error would only make the provider send it again. */
  #eventsOf(value: unknown): readonly WhatsappEvent[] {
    const { data } = whatsappCallsSchema.safeParse(value)
    if (data === undefined) {
      this.#logger.warn('WhatsApp told of calls in a way that is not known; they are left out')
      return []
    }
    const { phone_number_id: id } = data.metadata
    if (id !== this.#config.phoneNumberId) {
      this.#logger.warn(`a call for the phone number id ${id} is left out; ours is WHATSAPP_PHONE_NUMBER_ID`)
      return []
    }
    return data.calls.flatMap((item) => this.#eventOf(item, data))
  }

  #eventOf(item: unknown, calls: WhatsappCallsValue): readonly WhatsappEvent[] {
    const { data: call } = whatsappCallSchema.safeParse(item)
    if (call === undefined) {
      this.#logger.warn('an event of a WhatsApp call is not known; it is left out')
      return []
    }
    if (call.event === 'terminate') return [{ kind: 'terminate', callId: call.id }]
    return [{ kind: 'connect', callId: call.id, sdp: call.session.sdp, body: bodyOf(call, calls) }]
  }
}

function bodyOf(call: WhatsappConnect, { contacts }: WhatsappCallsValue): WhatsappBody {
  const { id, event, from, to, timestamp, direction = null } = call
  const contact = contacts?.find(({ wa_id }) => wa_id === from)
  const who = contact && {
    contact: { wa_id: contact.wa_id, ...(contact.profile && { name: contact.profile.name }) },
  }
  return { id, event, from, to, timestamp, direction, ...who }
}
