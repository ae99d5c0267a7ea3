/** What the command tells the shell. */
export const EXIT = {
  ok: 0,
  /** It could not start, or it could not go on. */
  failed: 1,
  /** The command line or the environment is wrong. */
  usage: 2,
} as const

/** Exit code of a command that a signal stopped at once. */
export const SIGNAL_EXIT = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const
