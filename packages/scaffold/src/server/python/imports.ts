import { LINE_WIDTH } from './expression.ts'

/** Modules of Python itself that generated code uses. */
const OF_PYTHON = new Set([
  'asyncio',
  'base64',
  'collections.abc',
  'datetime',
  'hashlib',
  'hmac',
  'importlib',
  'inspect',
  'os',
  'pathlib',
  're',
  'sys',
  'typing',
  'unittest',
  'unittest.mock',
  'urllib.parse',
  'wave',
  'xml.sax.saxutils',
])
/** Modules of the project. */
const OF_PROJECT = new Set(['bot', 'settings'])

/** The imports of a module, in the order and the form that linters ask for. */
export class Imports {
  readonly #plain = new Set<string>()
  readonly #names = new Map<string, Set<string>>()

  /** `import module`. */
  module(name: string): this {
    this.#plain.add(name)
    return this
  }

  /** `from module import names`. */
  from(module: string, ...names: readonly string[]): this {
    const known = this.#names.get(module) ?? new Set()
    for (const name of names) known.add(name)
    this.#names.set(module, known)
    return this
  }

  /** The lines, with a blank one between Python's own modules, those of others, and the project's. */
  render(): string {
    return [0, 1, 2]
      .map((section) => this.#section(section))
      .filter((lines) => lines !== '')
      .join('\n')
  }

  #section(section: number): string {
    const plain = [...this.#plain].filter((module) => sectionOf(module) === section).sort()
    const from = [...this.#names.keys()].filter((module) => sectionOf(module) === section).sort()
    return [
      ...plain.map((module) => `import ${module}\n`),
      ...from.map((module) => fromImport(module, [...(this.#names.get(module) ?? [])].sort(byKind))),
    ].join('')
  }
}

function sectionOf(module: string): number {
  if (OF_PYTHON.has(module)) return 0
  return OF_PROJECT.has(module) ? 2 : 1
}

function fromImport(module: string, names: readonly string[]): string {
  const line = `from ${module} import ${names.join(', ')}`
  if (line.length <= LINE_WIDTH) return `${line}\n`
  return `from ${module} import (\n${names.map((name) => `    ${name},\n`).join('')})\n`
}

/** Constants, then classes, then the rest. */
function byKind(a: string, b: string): number {
  return kindOf(a) - kindOf(b) || (a < b ? -1 : 1)
}

function kindOf(name: string): number {
  if (/^[A-Z0-9_]{2,}$/.test(name)) return 0
  return /^[A-Z]/.test(name) ? 1 : 2
}
