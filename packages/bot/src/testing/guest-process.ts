import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { TestHost } from './test-host.ts'

const MAIN = new URL('../../dist/guest/main.js', import.meta.url)
/** Inside of this package, so that a bot can import it by name as a user's bot does. */
const TEMP = new URL('../../', import.meta.url).pathname

/** A guest in a process of its own. */
export interface GuestProcess {
  readonly host: TestHost
  readonly child: ChildProcess
  /** The folder that the bot is in, which is also the working folder. */
  readonly folder: string
  readonly output: () => { readonly stdout: string; readonly stderr: string }
  /** Resolves to the exit code when the process is gone and its output is complete. */
  readonly exit: Promise<number | null>
  close(): Promise<void>
}

/** Starts a guest with the text of a bot. */
export async function startProcess(
  bot: string,
  options: { readonly name?: string; readonly url?: string; readonly files?: Record<string, string> } = {},
): Promise<GuestProcess> {
  const folder = await mkdtemp(join(TEMP, '.test-'))
  const file = join(folder, options.name ?? 'bot.mjs')
  await writeFile(file, bot)
  for (const [name, text] of Object.entries(options.files ?? {})) await writeFile(join(folder, name), text)
  const child = spawn(process.execPath, [MAIN.pathname], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    env: { ...process.env, BOTCLI_BOT_URL: options.url ?? pathToFileURL(file).href },
  })
  const link = child.stdio[3]
  if (!(link instanceof Socket)) throw new Error('the child has no link')
  let stdout = ''
  let stderr = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const exit = once(child, 'close').then(([code]: (number | null)[]) => code ?? null)
  return {
    host: new TestHost(link),
    child,
    folder,
    output: () => ({ stdout, stderr }),
    exit,
    close: async () => {
      child.kill('SIGKILL')
      await exit
      await rm(folder, { recursive: true })
    },
  }
}
