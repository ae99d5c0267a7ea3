import { readdir, readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import type { PageFacts } from './page-facts.ts'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
  '.png': 'image/png',
}

/** A file of the page, ready to be sent. */
export interface PageFile {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly headers: Readonly<Record<string, string>>
}

/** The built-in page: a handful of small files, kept in memory, so that no request reaches the disk. */
export class Page {
  readonly #files: ReadonlyMap<string, PageFile>
  readonly #document: string

  private constructor(files: ReadonlyMap<string, PageFile>, document: string) {
    this.#files = files
    this.#document = document
  }

  /** Reads the built page. Rejects when it is not there. */
  static async load(folder: string): Promise<Page> {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    const files = new Map<string, PageFile>()
    for (const entry of entries.filter((candidate) => candidate.isFile())) {
      const path = join(entry.parentPath, entry.name)
      const name = relative(folder, path).split(sep).join('/')
      files.set(name, { bytes: new Uint8Array(await readFile(path)), headers: headersOf(name) })
    }
    const document = await readFile(join(folder, 'index.html'), 'utf8')
    return new Page(files, document)
  }

  /** The document. `base` is where its parts are, relative to the address under which it was asked for. */
  document(facts: PageFacts, base: string | undefined): PageFile {
    const data = JSON.stringify(facts).replaceAll('<', '\\u003c')
    const script = `<script type="application/json" id="runner">${data}</script>`
    const head = base === undefined ? script : `<base href="${base}">${script}`
    const html = this.#document.replace('<head>', () => `<head>${head}`)
    return { bytes: new TextEncoder().encode(html), headers: headersOf('index.html') }
  }

  /** A part of the page, by its path below it. */
  file(name: string): PageFile | undefined {
    return name === 'index.html' ? undefined : this.#files.get(name)
  }
}

function headersOf(name: string): Readonly<Record<string, string>> {
  // The builder puts a hash into the names of what it bundles, so those never change.
  const immutable = name.startsWith('assets/')
  return {
    'Content-Type': TYPES[extname(name)] ?? 'application/octet-stream',
    'Cache-Control': immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    'X-Content-Type-Options': 'nosniff',
  }
}
