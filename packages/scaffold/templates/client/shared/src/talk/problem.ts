import {
  type DeviceError,
  type ErrorData,
  type RTVIMessage,
  StartBotError,
  TransportStartError,
} from '@pipecat-ai/client-js'
import { BOT_URL } from '../settings'

const PROBE_LIMIT_MS = 3000

/** What went wrong, for people. */
export interface Problem {
  readonly title: string
  readonly detail: string
}

/** An error that has its words already. */
export class BotError extends Error {
  readonly problem: Problem

  constructor(problem: Problem) {
    super(problem.title)
    this.problem = problem
  }
}

/** The bot started, but never said that it is ready. */
export const NOT_READY = new BotError({
  title: 'The bot did not get ready in time.',
  detail: 'The output of its server says what it is doing.',
})

/** The connection was closed while it was being made. */
export const STOPPED = new BotError({
  title: 'The bot ended the conversation before it began.',
  detail: 'The output of its server says why.',
})

/** Somebody else hung up. */
export const ENDED: Problem = { title: 'The bot ended the conversation.', detail: '' }

/** Words for whatever kept a conversation from beginning. */
export async function connectProblem(error: unknown): Promise<Problem> {
  if (error instanceof BotError) return error.problem
  if (error instanceof StartBotError) {
    if (await answers(BOT_URL)) return { title: 'The bot could not be started.', detail: error.message }
    return {
      title: 'The bot’s server is not running.',
      detail: `Nothing answers at ${BOT_URL}. Start the server, then connect again.`,
    }
  }
  if (error instanceof TransportStartError) {
    const refusal = error.cause instanceof Response ? await refusalOf(error.cause) : undefined
    return { title: 'The connection to the bot could not be made.', detail: refusal ?? error.message }
  }
  return { title: 'The bot could not be reached.', detail: messageOf(error) }
}

/** Words for an error that the bot or its server reports. */
export function reportedProblem(message: RTVIMessage): Problem {
  const { error, message: text } = message.data as Partial<ErrorData>
  const said = error ?? text ?? 'It did not say what.'
  if (/closed\. Code: 1000$/.test(said)) return ENDED
  return { title: 'The bot reports an error.', detail: said }
}

/** Words for a microphone or a camera that cannot be used. */
export function deviceProblem({ devices, type }: DeviceError): Problem {
  const device = devices.includes('cam') ? 'camera' : 'microphone'
  const reasons: Partial<Record<DeviceError['type'], string>> = {
    permissions: 'This page may not use it. The browser’s settings for this page change that.',
    'not-found': 'There is none.',
    'in-use': 'Another program uses it.',
    'undefined-mediadevices': 'Browsers allow it on https pages and on localhost only.',
  }
  return {
    title: `Your ${device} cannot be used.`,
    detail: `${reasons[type] ?? 'The browser does not say why.'} You can still type.`,
  }
}

/** Whether there is a server, even one that tells this page nothing. */
async function answers(url: string): Promise<boolean> {
  const signal = AbortSignal.timeout(PROBE_LIMIT_MS)
  return fetch(`${url}/status`, { mode: 'no-cors', signal }).then(
    () => true,
    () => false,
  )
}

async function refusalOf(response: Response): Promise<string | undefined> {
  const answer: unknown = await response
    .clone()
    .json()
    .catch(() => undefined)
  if (typeof answer !== 'object' || answer === null || !('error' in answer)) return undefined
  return String(answer.error)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
