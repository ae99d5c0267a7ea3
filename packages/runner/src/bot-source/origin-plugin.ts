import { readFile } from 'node:fs/promises'
import { dirname, extname } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Loader, Plugin } from 'esbuild'

const LOADERS: Readonly<Record<string, Loader>> = {
  '.ts': 'ts',
  '.mts': 'ts',
  '.cts': 'ts',
  '.tsx': 'tsx',
  '.js': 'js',
  '.mjs': 'js',
  '.cjs': 'js',
  '.jsx': 'jsx',
}

const URL_NAME = '__botcli_file_url'
const FILE_NAME = '__botcli_filename'
const FOLDER_NAME = '__botcli_dirname'

/** Only names that the file does not declare itself are replaced. */
export const ORIGIN_DEFINES: Readonly<Record<string, string>> = {
  'import.meta.url': URL_NAME,
  'import.meta.filename': FILE_NAME,
  'import.meta.dirname': FOLDER_NAME,
  __filename: FILE_NAME,
  __dirname: FOLDER_NAME,
}

const MENTIONS_ORIGIN = /import\.meta|__filename|__dirname/

/** Lets every file know its own path, although all of them end up in one. To be used with the defines. */
export const originPlugin: Plugin = {
  name: 'origin',
  setup(build) {
    build.onLoad({ filter: /\.[cm]?[jt]sx?$/, namespace: 'file' }, async ({ path }) => {
      const source = await readFile(path, 'utf8')
      return { contents: withOrigin(source, path), loader: LOADERS[extname(path)] ?? 'js' }
    })
  },
}

/** The names go on the first line of code, so that every other line keeps its number. */
function withOrigin(source: string, path: string): string {
  if (!MENTIONS_ORIGIN.test(source)) return source
  const names = [
    `${URL_NAME} = ${JSON.stringify(pathToFileURL(path).href)}`,
    `${FILE_NAME} = ${JSON.stringify(path)}`,
    `${FOLDER_NAME} = ${JSON.stringify(dirname(path))}`,
  ]
  const hashbang = /^#!.*\n/.exec(source)?.[0] ?? ''
  return `${hashbang}const ${names.join(', ')}; ${source.slice(hashbang.length)}`
}
