import type { KeyObject } from 'node:crypto'
import { TRANSPORTS, type TransportId } from '@botcli/protocol'
import type { CarrierSecrets } from '../config.ts'
import { RunnerError } from '../errors.ts'
import { notVerified, type WebhookRequest } from '../providers/webhook-request.ts'
import { RequestError } from '../request-error.ts'
import { type CallAnswer, callAnswer } from './call-answer.ts'
import { ed25519Key, formOf, isSignedByA, isSignedByB, isSignedByC } from './signatures.ts'

/** How a call is to be connected. */
export interface CallPlan {
  /** Asked only once the sender is known. */
  readonly wsUrl: () => string
  /** More that the carrier is to repeat on the stream. */
  readonly parameters?: Readonly<Record<string, string>> | undefined
}

/** `POST /`: a carrier asks what to do with a call. */
export class CarrierWebhook {
  readonly #secrets: CarrierSecrets
  readonly #keyB: KeyObject | undefined
  readonly #clock: () => number

  constructor(secrets: CarrierSecrets, clock: () => number = Date.now) {
    this.#secrets = secrets
    this.#clock = clock
    if (secrets.b === undefined) return
    this.#keyB = ed25519Key(secrets.b.publicKey)
    if (this.#keyB === undefined) {
      const message =
        'TELEPHONY_B_PUBLIC_KEY is not an Ed25519 key. Copy the public key from the portal of the provider.'
      throw new RunnerError('start_failed', message)
    }
  }

  /** Checks the sender, and answers with where the sound goes. The caller's numbers travel along. */
  answer(transport: TransportId, request: WebhookRequest, plan: CallPlan): CallAnswer {
    this.#check(transport, request)
    const form = formOf(request)
    const numbers = Object.entries({ from_number: form.get('From'), to_number: form.get('To') })
    const parameters = {
      ...Object.fromEntries(numbers.filter((pair): pair is [string, string] => Boolean(pair[1]))),
      ...plan.parameters,
    }
    const answer = callAnswer(transport, { wsUrl: plan.wsUrl(), parameters })
    if (answer !== undefined) return answer
    throw new RequestError('not_found', `${TRANSPORTS[transport].label} has no webhook.`)
  }

  #check(transport: TransportId, request: WebhookRequest): void {
    if (this.#isVerified(transport, request)) return
    const { label } = TRANSPORTS[transport]
    throw notVerified(
      `The signature does not show that this comes from ${label}. Compare its credentials and --proxy.`,
    )
  }

  #isVerified(transport: TransportId, request: WebhookRequest): boolean {
    const { a, c } = this.#secrets
    if (transport === 'telephony_a') return a === undefined || isSignedByA(request, a.authToken)
    if (transport === 'telephony_b') {
      return this.#keyB === undefined || isSignedByB(request, this.#keyB, this.#clock())
    }
    if (transport === 'telephony_c') return c === undefined || isSignedByC(request, c.authToken)
    return true
  }
}
