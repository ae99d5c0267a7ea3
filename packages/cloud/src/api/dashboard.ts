import { readdir, readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
}
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Where the page is with which people talk to agents. */
const TALK = 'talk/'

/** Where the built pages are. */
export interface DashboardFolders {
  readonly dashboard: string
  /** The talk page, which a runner serves as well. */
  readonly talk?: string | undefined
}

/** A file of the dashboard, ready to be sent. */
export interface DashboardFile {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly headers: Readonly<Record<string, string>>
}

/** The built dashboard and the talk page: a handful of small files, kept in memory, so that no request reaches the disk. */
export class Dashboard {
  readonly #files: ReadonlyMap<string, DashboardFile>

  private constructor(files: ReadonlyMap<string, DashboardFile>) {
    this.#files = files
  }

  /** Reads the built files. Rejects when they are not there. */
  static async load({ dashboard, talk }: DashboardFolders): Promise<Dashboard> {
    const files = new Map<string, DashboardFile>()
    for (const [name, bytes] of await filesIn(dashboard)) files.set(name, fileOf(name, bytes))
    for (const [name, bytes] of talk === undefined ? [] : await filesIn(talk)) {
      // The builder puts the dashboard below the talk page.
      if (!name.startsWith('cloud/')) files.set(`${TALK}${name}`, fileOf(name, bytes))
    }
    return new Dashboard(files)
  }

  /** The file at a path below the cloud's address. */
  file(path: string): DashboardFile | undefined {
    const name = path.slice(1)
    return this.#files.get(name === '' || name === TALK ? `${name}index.html` : name)
  }
}

async function filesIn(folder: string): Promise<ReadonlyMap<string, Uint8Array<ArrayBuffer>>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = new Map<string, Uint8Array<ArrayBuffer>>()
  for (const entry of entries.filter((candidate) => candidate.isFile())) {
    const path = join(entry.parentPath, entry.name)
    files.set(relative(folder, path).split(sep).join('/'), new Uint8Array(await readFile(path)))
  }
  return files
}

function fileOf(name: string, bytes: Uint8Array<ArrayBuffer>): DashboardFile {
  return { bytes, headers: headersOf(name) }
}

function headersOf(name: string): Readonly<Record<string, string>> {
  // The builder puts a hash into the names of what it bundles, so those never change.
  const immutable = name.startsWith('assets/')
  return {
    'Content-Type': TYPES[extname(name)] ?? 'application/octet-stream',
    'Cache-Control': immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    'Content-Security-Policy': POLICY,
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  }
}
