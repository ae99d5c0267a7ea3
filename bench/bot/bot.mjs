import { appendFileSync } from 'node:fs'
import { bot as echo } from '../../examples/echo/bot.ts'

/**
 * The echo bot, which first writes down when it was called, by the clock that all processes of a machine share.
 * @param {import('@botcli/bot').RunnerArguments} args
 */
export async function bot(args) {
  const calledAt = process.hrtime.bigint()
  appendFileSync(process.env.BENCH_CALLS, `${calledAt}\n`)
  await echo(args)
}
