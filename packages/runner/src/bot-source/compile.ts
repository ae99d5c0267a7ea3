import { createHash } from 'node:crypto'
import { basename, join, relative, resolve } from 'node:path'
import type { BuildContext, BuildFailure, BuildResult, Message } from 'esbuild'
import type { BotFile } from './discover.ts'
import { ORIGIN_DEFINES, originPlugin } from './origin-plugin.ts'
import { OutputFolder } from './output-folder.ts'
import { packagePlugin } from './package-plugin.ts'

/** What became of the user's code. */
export type Compiled =
  | {
      readonly kind: 'compiled'
      readonly url: string
      /** Equal for equal code on equal lines. */
      readonly hash: string
      /** Absolute paths of all files of the user that went in. */
      readonly inputs: readonly string[]
      readonly warnings: readonly string[]
    }
  /** `message` has the file and the line of everything that is wrong. */
  | { readonly kind: 'failed'; readonly message: string; readonly inputs: readonly string[] }

const ENTRY_NAME = 'botcli-entry.js'
const OUTPUT_NAME = 'bot.mjs'
const MAX_SHOWN = 10

/** The bundler leaves `require` of packages in CommonJS files to the module that it writes. */
const NEEDS_REQUIRE = 'typeof require !== "undefined"'
const REQUIRE =
  "import { createRequire as __botcli_createRequire } from 'node:module'; " +
  'const require = __botcli_createRequire(import.meta.url); '

/** Turns the user's own files into one module for Node. Packages stay where they are. */
export class Compiler {
  readonly #file: BotFile
  readonly #cwd: string
  readonly #output: OutputFolder
  readonly #context: BuildContext<{ write: false; metafile: true }>

  private constructor(
    file: BotFile,
    cwd: string,
    output: OutputFolder,
    context: BuildContext<{ write: false; metafile: true }>,
  ) {
    this.#file = file
    this.#cwd = cwd
    this.#output = output
    this.#context = context
  }

  /** Gets ready to compile, again and again; paths in messages are relative to `cwd`. */
  static async open(file: BotFile, cwd: string = process.cwd()): Promise<Compiler> {
    const { context } = await import('esbuild')
    const output = await OutputFolder.open(file.folder)
    try {
      const made = await context({
        absWorkingDir: file.folder,
        // Asking for `bot` by name works for CommonJS too, and is an error when a module has none.
        stdin: {
          contents: `export { bot } from ${JSON.stringify(`./${basename(file.path)}`)}`,
          resolveDir: file.folder,
          sourcefile: ENTRY_NAME,
        },
        outfile: join(output.samplePath, OUTPUT_NAME),
        bundle: true,
        packages: 'external',
        format: 'esm',
        platform: 'node',
        target: 'node20.12',
        sourcemap: 'linked',
        define: { ...ORIGIN_DEFINES },
        plugins: [packagePlugin, originPlugin],
        write: false,
        metafile: true,
        logLevel: 'silent',
      })
      return new Compiler(file, cwd, output, made)
    } catch (error) {
      await output.close()
      throw error
    }
  }

  /** Compiles what is on disk now. */
  async compile(): Promise<Compiled> {
    let result: BuildResult<{ write: false; metafile: true }>
    try {
      result = await this.#context.rebuild()
    } catch (error) {
      if (!isBuildFailure(error)) throw error
      return this.#failed(error.errors)
    }
    const text = (name: string) => result.outputFiles.find((one) => basename(one.path) === name)?.text ?? ''
    const code = text(OUTPUT_NAME)
    const map = text(`${OUTPUT_NAME}.map`)
    const hash = createHash('sha256').update(code).update(map).digest('hex').slice(0, 16)
    const url = await this.#output.write(hash, [
      { name: OUTPUT_NAME, text: code.includes(NEEDS_REQUIRE) ? REQUIRE + code : code },
      { name: `${OUTPUT_NAME}.map`, text: map },
    ])
    const inputs = Object.keys(result.metafile.inputs)
      .filter((input) => input !== ENTRY_NAME)
      .map((input) => resolve(this.#file.folder, input))
    return {
      kind: 'compiled',
      url,
      hash,
      inputs,
      warnings: result.warnings.map((warning) => this.#spell(warning)),
    }
  }

  /** Nothing is compiled any more: ends the bundler, which is a process of its own. What was written stays. */
  async finish(): Promise<void> {
    const { stop } = await import('esbuild')
    await this.#context.dispose()
    await stop()
  }

  /** Frees the bundler and removes what was written. */
  async close(): Promise<void> {
    await this.#context.dispose()
    await this.#output.close()
  }

  #failed(errors: readonly Message[]): Compiled {
    const shown = errors.slice(0, MAX_SHOWN).map((error) => this.#spell(error))
    if (errors.length > MAX_SHOWN) shown.push(`and ${errors.length - MAX_SHOWN} more`)
    const inputs = errors.flatMap(({ location }) =>
      location && location.file !== ENTRY_NAME ? [resolve(this.#file.folder, location.file)] : [],
    )
    return { kind: 'failed', message: shown.join('\n'), inputs: [...new Set([this.#file.path, ...inputs])] }
  }

  #spell({ text, location }: Message): string {
    if (!location) return text
    if (location.file === ENTRY_NAME) return this.#spellEntry(text)
    const place = `${this.#shown(resolve(this.#file.folder, location.file))}:${location.line}:${location.column + 1}`
    const line = location.lineText.slice(0, 200)
    const pointer = line.slice(0, location.column).replace(/[^\t]/g, ' ')
    const underline =
      location.column < line.length
        ? `\n  ${pointer}${'^'.repeat(Math.max(1, Math.min(location.length, line.length - location.column)))}`
        : ''
    return `${place}: ${text}\n  ${line}${underline}`
  }

  /** Nobody knows our entry, so its errors are told as what they mean for the bot. */
  #spellEntry(text: string): string {
    const shown = this.#shown(this.#file.path)
    if (text.startsWith('No matching export')) {
      return `${shown}:1:1: it does not export "bot". Add "export async function bot(args) { … }".`
    }
    if (text.startsWith('Could not resolve')) return `${shown}: the file is gone or cannot be read.`
    return `${shown}: ${text}`
  }

  #shown(path: string): string {
    const inside = relative(this.#cwd, path)
    return inside.startsWith('..') ? path : inside
  }
}

function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && 'errors' in error && Array.isArray(error.errors)
}
