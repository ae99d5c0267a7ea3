import { fileURLToPath } from 'node:url'

/** The command that starts this program once more, wherever it was started from. */
export function ownProgram(): readonly string[] {
  return [process.execPath, fileURLToPath(new URL('../bin/botcli.js', import.meta.url))]
}
