import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { lstat, readdir } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import type { PlatformPacker } from '@botcli/cloud'
import type { Io } from '../io.ts'
import { ownPackages } from '../own-packages.ts'
import { ownVersion } from '../version.ts'

/** Packing takes seconds. */
const LIMIT_MS = 60_000

/** Packs this program with `npm pack`, as it is installed: nothing is fetched, and no script of a package is run. */
export function npmPacker(env: Io['env']): PlatformPacker {
  return {
    version: ownVersion(),
    async stamp() {
      const hash = createHash('sha256')
      for (const { name, folder, parts } of await ownPackages()) {
        hash.update(`${name}\n`)
        for (const part of parts)
          for (const line of await looksOf(join(folder, part))) hash.update(`${line}\n`)
      }
      return hash.digest('hex')
    },
    async pack(folder, signal) {
      const folders = (await ownPackages()).map((own) => own.folder)
      // A cache of its own: the user of a service may have no home.
      const options = ['--ignore-scripts', '--loglevel=error', '--no-update-notifier', '--cache=cache']
      await npm(['pack', ...options, '--pack-destination=.', ...folders], folder, env, signal)
    },
  }
}

/** Paths, sizes and times of a file, or of all in a folder; nothing if there is none. */
async function looksOf(path: string): Promise<readonly string[]> {
  const found = await lstat(path).catch(() => undefined)
  if (found === undefined) return []
  if (!found.isDirectory()) return [`${path} ${found.size} ${found.mtimeMs}`]
  const names = (await readdir(path)).toSorted()
  return (await Promise.all(names.map((name) => looksOf(join(path, name))))).flat()
}

/** Runs npm: the one on the PATH, or else the one that came with this Node. */
async function npm(args: readonly string[], cwd: string, env: Io['env'], signal: AbortSignal): Promise<void> {
  const path = [env.PATH, dirname(process.execPath)].filter((folders) => folders).join(delimiter)
  const options = { cwd, signal, timeout: LIMIT_MS, env: { ...env, PATH: path } }
  await new Promise<void>((resolve, reject) => {
    execFile('npm', args, options, (error, _, stderr) => {
      if (error === null) resolve()
      else reject(new Error(`npm pack: ${complaint(stderr) || complaint(error.message)}`, { cause: error }))
    })
  })
}

/** The last line of what npm complained about, without where it keeps its own log. */
function complaint(text: string): string {
  const lines = text.trim().split('\n')
  return lines.findLast((line) => line !== '' && !line.includes('complete log of this run')) ?? ''
}
