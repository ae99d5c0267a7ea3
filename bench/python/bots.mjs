import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startOurs } from '../servers.mjs'

const path = (name) => fileURLToPath(new URL(name, import.meta.url))

export const ECHO = path('../../examples/echo-python/bot.py')
/** So that a Python outside of the runner finds our package. */
export const PACKAGE_ENV = { PYTHONPATH: path('../../python/src') }

/**
 * A bot in Python that tells when it is called.
 * @typedef {object} PythonBot
 * @property {string} name
 * @property {string} path
 * @property {string} python
 * @property {Record<string, string>} env
 */

/**
 * Bots that are written for our package: with nothing else, and with the library when it is there.
 * @param {{ python: string } | undefined} peer
 * @returns {Promise<PythonBot[]>}
 */
export async function pythonBots(peer) {
  const plain = { name: 'plain bot', path: path('bot/bot.py'), python: await systemPython(), env: {} }
  if (peer === undefined) return [plain]
  return [plain, { ...plain, name: 'pipecat bot', python: peer.python, env: { BENCH_IMPORTS: 'pipecat' } }]
}

/**
 * The very bot that the peer's runner is measured with.
 * @param {{ python: string }} peer
 * @returns {PythonBot}
 */
export function peerBot({ python }) {
  return { name: 'unchanged bot', path: path('../peer/echo_bot.py'), python, env: {} }
}

/** The Python that our runner takes for a bot without an environment of its own, and no script that looks for it. */
export async function systemPython() {
  const { stdout } = await promisify(execFile)('python3', ['-c', 'import sys; print(sys.executable)'])
  return stdout.trim()
}

/**
 * Our runner with such a bot.
 * @param {PythonBot} bot
 * @param {readonly string[]} args
 * @param {Record<string, string>} [more] variables
 */
export function startBot({ path: bot, python, env }, args, more = {}) {
  return startOurs({ bot, args: ['--python', python, ...args], env: { ...env, ...more } })
}
