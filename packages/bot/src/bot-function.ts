import type { RunnerArguments } from './arguments.ts'

/** The entry point of a bot: serves one caller and returns when the conversation is over. */
export type BotFunction = (args: RunnerArguments) => Promise<void> | void
