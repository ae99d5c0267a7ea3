// Makes the code of the packages whose start is felt: few files instead of one for each source, because opening and linking
// modules is most of what a short command costs. Types are the compiler's (tsc -b), which emits nothing else for them.
import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { build } from 'esbuild'

const ROOT = resolve(import.meta.dirname, '..')
const SCAFFOLD = join(ROOT, 'packages/scaffold')
const CLI = join(ROOT, 'packages/cli')

await bundle(SCAFFOLD, exportsOf(SCAFFOLD))
// Nobody imports the command but the file that starts it.
await bundle(CLI, ['src/main.ts'])

/**
 * The sources of what others can import of a package.
 * @param {string} home
 */
function exportsOf(home) {
  const { exports } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))
  return Object.values(exports).map((door) => door.default.replace(/^\.\/dist\/(.*)\.js$/, 'src/$1.ts'))
}

/**
 * Makes what is to be run of a package. What is imported only when it is needed becomes a file of its own.
 * @param {string} home the folder of the package
 * @param {readonly string[]} entryPoints
 */
async function bundle(home, entryPoints) {
  const { metafile } = await build({
    absWorkingDir: home,
    entryPoints,
    outbase: 'src',
    outdir: 'dist',
    // All lie beside the entries, so that paths from import.meta.url are the same in every one.
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    logLevel: 'warning',
  })
  removeStale(home, new Set(Object.keys(metafile.outputs)))
}

/**
 * Removes what earlier builds have left, which would be packed and could be imported.
 * @param {string} home
 * @param {ReadonlySet<string>} outputs
 */
function removeStale(home, outputs) {
  const entries = readdirSync(join(home, 'dist'), { recursive: true, withFileTypes: true })
  for (const entry of entries) {
    if (entry.isDirectory()) continue
    const path = relative(home, join(entry.parentPath, entry.name)).replaceAll('\\', '/')
    const source = path.replace(/^dist\/(.*)\.d\.ts$/, 'src/$1.ts')
    const isFresh = source === path ? outputs.has(path) : existsSync(join(home, source))
    if (!isFresh) rmSync(join(home, path))
  }
  const folders = entries
    .filter((entry) => entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name))
  // The deepest have the longest paths.
  for (const folder of folders.toSorted((a, b) => b.length - a.length)) {
    if (readdirSync(folder).length === 0) rmdirSync(folder)
  }
}
