import { existsSync } from 'node:fs'
import { createRequire, isBuiltin } from 'node:module'
import { isAbsolute, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Plugin } from 'esbuild'

/** What the runner brings along, so that a bot needs no folder of packages for it. One that is installed wins. */
const OWN_PACKAGE = '@botcli/bot'

/** Marks the question that this plugin asks itself. */
const ASKED = Symbol('asked')

/**
 * Finds packages that are not installed while the file and the line of their import are known. Node would name
 * only the compiled file. Imports at run time are left alone: a bot may try them and go on without.
 */
export const packagePlugin: Plugin = {
  name: 'package',
  setup(build) {
    build.onResolve({ filter: /^[^./#]/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
      if (pluginData === ASKED || kind !== 'import-statement') return undefined
      if (isBuiltin(path) || isAbsolute(path) || path.includes(':')) return undefined
      const name = packageName(path)
      if (isInstalled(name, path, resolveDir)) return undefined
      if (path === OWN_PACKAGE) return { path: ownPackage(), external: true }
      // A path of tsconfig.json can look like a package.
      const resolved = await build.resolve(path, { kind, importer, resolveDir, pluginData: ASKED })
      if (!resolved.external && resolved.errors.length === 0) return undefined
      return { errors: [{ text: `The package "${name}" is not installed. Run: npm install ${name}` }] }
    })
  },
}

function ownPackage(): string {
  return pathToFileURL(createRequire(import.meta.url).resolve(OWN_PACKAGE)).href
}

function packageName(path: string): string {
  const parts = path.split('/')
  return parts.slice(0, path.startsWith('@') ? 2 : 1).join('/')
}

function isInstalled(name: string, path: string, folder: string): boolean {
  const require = createRequire(join(folder, 'importer.js'))
  if (require.resolve.paths(path)?.some((place) => existsSync(join(place, name)))) return true
  try {
    // A package may import itself by its name, and some package managers have no folders at all.
    require.resolve(path)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code !== 'MODULE_NOT_FOUND'
  }
}
