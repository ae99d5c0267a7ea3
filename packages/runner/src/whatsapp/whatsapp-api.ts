import {
  DEFAULT_WHATSAPP_API_URL,
  type WhatsappAction,
  whatsappDoneSchema,
  whatsappRefusalSchema,
} from '@botcli/protocol'
import type { WhatsappConfig } from '../config.ts'
import { type Fetch, ProviderApi } from '../providers/provider-api.ts'

const LIMIT_MS = 4000

/** How to reach the provider. */
export interface WhatsappApiOptions {
  readonly config: WhatsappConfig
  readonly fetch?: Fetch | undefined
  /** Default: short enough to be over when the runner has to stop. */
  readonly limitMs?: number | undefined
}

/** The provider's REST API for calls. Every method rejects with `provider_failed` when it cannot be done. */
export class WhatsappApi {
  readonly #api: ProviderApi
  readonly #path: string

  constructor({ config, fetch, limitMs = LIMIT_MS }: WhatsappApiOptions) {
    this.#path = `/${encodeURIComponent(config.phoneNumberId)}/calls`
    this.#api = new ProviderApi({
      label: 'WhatsApp',
      baseUrl: config.apiUrl ?? DEFAULT_WHATSAPP_API_URL,
      authorization: `Bearer ${config.token}`,
      secrets: [config.token, config.appSecret, config.verificationToken],
      credential: 'WHATSAPP_TOKEN and WHATSAPP_PHONE_NUMBER_ID',
      reason: (answer) => whatsappRefusalSchema.safeParse(answer).data?.error.message,
      fetch,
      limitMs,
    })
  }

  /** Lets the media connect before the call is taken, so that its first words are not lost. */
  preAccept(callId: string, caller: string, sdp: string): Promise<void> {
    return this.#act({ action: 'pre_accept', call_id: callId, to: caller, session: answerOf(sdp) })
  }

  accept(callId: string, caller: string, sdp: string): Promise<void> {
    return this.#act({ action: 'accept', call_id: callId, to: caller, session: answerOf(sdp) })
  }

  /** For a call that was not taken. */
  reject(callId: string): Promise<void> {
    return this.#act({ action: 'reject', call_id: callId })
  }

  /** For a call that was. */
  terminate(callId: string): Promise<void> {
    return this.#act({ action: 'terminate', call_id: callId })
  }

  async #act(action: Omit<WhatsappAction, 'messaging_product'>): Promise<void> {
    const json: WhatsappAction = { messaging_product: 'whatsapp', ...action }
    const doing = `${action.action.replace('_', '-')} a call`
    await this.#api.ask(doing, { method: 'POST', path: this.#path, json }, whatsappDoneSchema)
  }
}

function answerOf(sdp: string): { readonly sdp: string; readonly sdp_type: 'answer' } {
  return { sdp, sdp_type: 'answer' }
}
