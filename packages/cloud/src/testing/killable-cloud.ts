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

/** A cloud in a process of its own. */
export class KillableCloud {
  readonly url: string
  /** Of the first start with its folder. */
  readonly keys: FirstKeys | undefined
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, { url, keys }: { url: string; keys?: FirstKeys }) {
    this.#child = child
    this.url = url
    this.keys = keys
  }

  /** Starts one. It kills itself at a step, if one is given. */
  static async start(program: string, folder: string, killAt = 0): Promise<KillableCloud> {
    const child = spawn(process.execPath, [program, folder, String(killAt)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const lines = createInterface({ input: child.stdout })
    const [line] = (await Promise.race([
      once(lines, 'line'),
      once(child, 'exit').then(([code]) => Promise.reject(new Error(`it ended with ${code}`))),
    ])) as [string]
    return new KillableCloud(child, JSON.parse(line))
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
