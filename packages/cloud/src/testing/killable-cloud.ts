import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { buildSync } from 'esbuild'
import type { FirstKeys } from '../first-start.ts'

// Below node_modules, so that what is not bundled is found from there.
const FOLDER = join(import.meta.dirname, '../../../../node_modules/.cache/botcli-cloud')

/** The program that is killed, made of the sources as they are. */
export function buildCloudProcess(): string {
  mkdirSync(FOLDER, { recursive: true })
  const outfile = join(FOLDER, `cloud-${process.pid}.mjs`)
  buildSync({
    entryPoints: [join(import.meta.dirname, 'cloud-process.ts')],
    ...{ bundle: true, platform: 'node', format: 'esm', packages: 'external', target: 'node20', outfile },
  })
  return outfile
}

/** How one is started. */
export interface StartOptions {
  /** It kills itself at this step. */
  readonly killAt?: number
  /** A line for the shell that comes before it. */
  readonly before?: string
  /** What the shell is run by. */
  readonly wrapper?: readonly string[]
}

/** A cloud in a process of its own. */
export class KillableCloud {
  readonly url: string
  /** Of the first start with its folder. */
  readonly keys: FirstKeys | undefined
  readonly #child: ChildProcess
  readonly #told: { readonly text: string }

  private constructor(
    child: ChildProcess,
    told: { readonly text: string },
    { url, keys }: { url: string; keys?: FirstKeys },
  ) {
    this.#child = child
    this.#told = told
    this.url = url
    this.keys = keys
  }

  /** Starts one. */
  static async start(program: string, folder: string, options: StartOptions = {}): Promise<KillableCloud> {
    const { killAt = 0, before = 'true', wrapper = [] } = options
    const script = `${before} && exec "$@"`
    const command = [process.execPath, program, folder, String(killAt)]
    const [first = '', ...rest] = [...wrapper, 'sh', '-c', script, 'sh', ...command]
    const child = spawn(first, rest, { stdio: ['ignore', 'pipe', 'pipe'] })
    const told = { text: '' }
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      told.text += text
    })
    const lines = createInterface({ input: child.stdout })
    const [line] = (await Promise.race([
      once(lines, 'line'),
      once(child, 'close').then(([code]) => Promise.reject(new Error(`it ended with ${code}: ${told.text}`))),
    ])) as [string]
    return new KillableCloud(child, told, JSON.parse(line))
  }

  /** The errors that it has told. */
  get told(): string {
    return this.#told.text
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** Whether it has killed itself. */
  get isGone(): boolean {
    return this.#child.signalCode !== null
  }

  /** As a power cut of one process. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const gone = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await gone
  }
}
