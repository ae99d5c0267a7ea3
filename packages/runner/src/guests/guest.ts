import type { Duplex } from 'node:stream'
import type { Logger } from '../log/logger.ts'

/** How a guest ended. */
export interface GuestExit {
  /** In words, to follow "The bot's process": "exited with code 3". */
  readonly how: string
  readonly outOfMemory: boolean
}

/** How a process ended that somebody has killed, in the same words. */
export const KILLED = 'was ended by SIGKILL'

/** A bot that is loaded and waits for its one session, or serves it. */
export interface Guest {
  /** Which state of the user's code it runs. */
  readonly version: number
  /** Whether its bot speaks the wires of its callers itself. */
  readonly passThrough: boolean
  readonly exited: Promise<GuestExit>
  /** Hands over the stream to the guest and begins to log in the session's name. Called once. */
  release(logger: Logger): Duplex
  /** Ends the guest: politely, then by force when the grace is over. Resolves when it has ended. */
  stop(graceMs: number): Promise<void>
}

/**
 * Makes a guest that runs this code. Rejects with a {@link RunnerError} when the code does not load, and soon when
 * nobody wants it any more.
 */
export type GuestFactory = (code: GuestCode, unwanted: AbortSignal) => Promise<Guest>

/** The user's code, ready to be loaded. */
export type GuestCode = JavaScriptCode | PythonCode

/** A module that can be imported. */
export interface JavaScriptCode {
  readonly kind: 'javascript'
  readonly url: string
  readonly version: number
}

/** One state of a Python project, which makes its own guests. */
export interface PythonCode {
  readonly kind: 'python'
  readonly version: number
  readonly program: { start(unwanted: AbortSignal): Promise<Guest> }
}
