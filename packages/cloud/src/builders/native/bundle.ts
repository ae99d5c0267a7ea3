import { lstat, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import * as z from 'zod'

/** The name of the file that says how a bundle is run. */
export const BUNDLE_FILE = 'bundle.json'

/** How a bundle is run. Paths are relative to its folder, so that it may be moved to wherever the same Python or Node is. */
export const bundleManifest = z.strictObject({
  version: z.literal(1),
  buildId: z.uuid(),
  language: z.enum(['python', 'node']),
  /** The file with the bot. */
  entry: z.string(),
  /** The folder that it runs in. */
  workdir: z.string(),
  /** The interpreter of a bot in Python. */
  python: z.strictObject({ path: z.string(), version: z.string(), base: z.string() }).nullable(),
  /** The version of Node that the packages of a bot in JavaScript were installed with. */
  node: z.string().nullable(),
  /** ENTRYPOINT and CMD of the container build file. */
  command: z.array(z.string()),
  /** ENV of the container build file. */
  env: z.record(z.string(), z.string()),
})
export type BundleManifest = z.infer<typeof bundleManifest>

/** Reads how a bundle is run. */
export async function readBundle(folder: string): Promise<BundleManifest> {
  return bundleManifest.parse(JSON.parse(await readFile(join(folder, BUNDLE_FILE), 'utf8')))
}

/** Writes how a bundle is run. */
export async function writeBundle(folder: string, manifest: BundleManifest): Promise<void> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, BUNDLE_FILE), `${JSON.stringify(manifest, null, 2)}\n`)
}

const SCRIPT_HEAD = 512

/**
 * Lets the programs of a virtual environment find its Python beside themselves, wherever it lies. Installers write its absolute path into
 * them.
 */
export async function makeRelocatable(environment: string): Promise<void> {
  const bin = join(environment, 'bin')
  for (const name of await readdir(bin)) {
    const path = join(bin, name)
    const found = await lstat(path)
    if (!found.isFile() || found.size > 1024 * 1024) continue
    const text = await readFile(path, 'latin1')
    const head = text.slice(0, SCRIPT_HEAD)
    const direct = /^#!(\S+\/bin\/(python[\d.]*))\n/.exec(head)
    const byShell = /^#!\/bin\/sh\n'''exec' "?([^"\n]+\/bin\/(python[\d.]*))"? "\$0" "\$@"\n' '''\n/.exec(
      head,
    )
    const [whole, python = '', program] = direct ?? byShell ?? []
    if (whole === undefined || relative(bin, python).includes('/')) continue
    const shebang = `#!/bin/sh\n'''exec' "$(dirname -- "$(realpath -- "$0")")/${program}" "$0" "$@"\n' '''\n`
    await writeFile(path, shebang + text.slice(whole.length), 'latin1')
  }
}
