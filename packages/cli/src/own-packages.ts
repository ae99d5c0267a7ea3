import { existsSync, readFileSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

const OWN_SCOPE = '@botcli/'
const Manifest = z.object({
  name: z.string(),
  files: z.array(z.string()).default([]),
  dependencies: z.record(z.string(), z.string()).default({}),
})

/** One of the packages that this program is made of, where it is installed. */
export interface OwnPackage {
  readonly name: string
  readonly folder: string
  /** The files and folders in it that are published, whole. */
  readonly parts: readonly string[]
}

/** This package, and every one of ours that it needs, directly or not. */
export async function ownPackages(): Promise<readonly OwnPackage[]> {
  const found = new Map<string, OwnPackage>()
  // It grows while it is gone through.
  const folders = [fileURLToPath(new URL('..', import.meta.url))]
  for (const folder of folders) {
    const manifest = Manifest.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')))
    const { name, files, dependencies } = manifest
    if (found.has(name)) continue
    const parts = new Set(['package.json', ...files.map((pattern) => pattern.split('/')[0] ?? pattern)])
    found.set(name, { name, folder, parts: [...parts] })
    const needed = Object.keys(dependencies).filter((dependency) => dependency.startsWith(OWN_SCOPE))
    for (const dependency of needed) folders.push(await folderOf(dependency, folder))
  }
  return [...found.values()]
}

/** Where a package finds another one. Its `package.json` need not be among what it exports. */
async function folderOf(name: string, from: string): Promise<string> {
  const places = createRequire(join(from, 'package.json')).resolve.paths(name) ?? []
  const place = places.find((modules) => existsSync(join(modules, name, 'package.json')))
  if (place === undefined) throw new Error(`${name}, which ${from} needs, is not installed`)
  return await realpath(join(place, name))
}
