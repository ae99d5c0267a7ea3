import { spawn } from 'node:child_process'
import { once } from 'node:events'

const LIMIT_MS = 60_000

/**
 * From the start of a command to its end.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string }} [options]
 */
export async function commandTime(command, args, { cwd } = {}) {
  const begin = performance.now()
  const child = spawn(command, args, { cwd, stdio: 'ignore', timeout: LIMIT_MS })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}.`)
  return performance.now() - begin
}
