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
  /** Whether it is why the conversation ended. */
  readonly final?: boolean
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
export const ENDED: Problem = { title: 'The bot ended the conversation.', detail: '', final: true }

/** The server went away in the middle of a conversation. */
export const LOST: Problem = {
  title: 'The connection to the bot was lost.',
  detail: `Nothing answers at ${BOT_URL} any more.`,
  final: true,
}

/** Words for whatever kept a conversation from beginning. */
export async function connectProblem(error: unknown): Promise<Problem> {
  if (error instanceof BotError) return error.problem
  if (error instanceof StartBotError) {
    if (await serverAnswers()) return { title: 'The bot could not be started.', detail: error.message }
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

/** Words for an error that the bot or its server reports. That a connection was closed is seen without them. */
export function reportedProblem(message: RTVIMessage): Problem | undefined {
  const { error, message: text, fatal = false } = message.data as Partial<ErrorData>
  const detail = error ?? text ?? 'It did not say what.'
  if (/ closed\. Code: \d+$/.test(detail)) return undefined
  return { title: fatal ? ENDED.title : 'The bot reports an error.', detail, final: fatal }
}

/** Words for a microphone or a camera that cannot be used. */
export function deviceProblem({ devices, type }: DeviceError): Problem {
  const mute = devices.includes('mic')
  const names = [...(mute ? ['microphone'] : []), ...(devices.includes('cam') ? ['camera'] : [])]
  const reasons: Partial<Record<DeviceError['type'], string>> = {
    permissions: 'The browser’s settings for this page do not allow it.',
    'not-found': 'None was found.',
    'in-use': 'Another program is using it.',
    'undefined-mediadevices': 'Browsers allow it on https pages and on localhost only.',
  }
  const reason = reasons[type] ?? 'The browser does not say why.'
  return {
    title: `Your ${names.join(' and ')} cannot be used.`,
    detail: `${reason} ${mute ? 'You can still type.' : 'The bot cannot see you.'}`,
  }
}

/** Whether there is a server, even one that tells this page nothing. */
export async function serverAnswers(): Promise<boolean> {
  const signal = AbortSignal.timeout(PROBE_LIMIT_MS)
  return fetch(`${BOT_URL}/status`, { mode: 'no-cors', signal }).then(
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
