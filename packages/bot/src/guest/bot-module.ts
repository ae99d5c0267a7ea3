import type { BotFunction } from '../bot-function.ts'
import { BotError } from '../errors.ts'

/** The `bot` export of a module, or an error that says what is there instead. */
export function botOf(module: Readonly<Record<string, unknown>>): BotFunction {
  const { bot } = module
  if (typeof bot === 'function') return bot as BotFunction
  const names = Object.keys(module).filter((name) => module[name] !== undefined)
  const found =
    bot === undefined
      ? `it exports ${names.length === 0 ? 'nothing' : names.join(', ')}`
      : `its \`bot\` is of type ${typeof bot}`
  throw new BotError(
    'bot_not_found',
    `the bot file has no function named \`bot\` (${found}); add \`export async function bot(args) { … }\``,
  )
}
