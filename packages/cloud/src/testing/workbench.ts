import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Builder, BuildInput, BuildLimits, BuildOutput, BuildResult } from '../builders/builder.ts'
import { processesOf } from '../builders/limits/processes.ts'

const LIMITS: BuildLimits = {
  seconds: 80,
  memoryBytes: 1024 * 1024 * 1024,
  processes: 256,
  diskBytes: 1024 * 1024 * 1024,
}

/** The output of a build, as text. */
export class LogDouble implements BuildOutput {
  text = ''
  /** Called with everything so far, after each piece. */
  onOutput: (text: string) => void = () => {}

  write(bytes: Uint8Array | string): void {
    this.text += typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString()
    this.onOutput(this.text)
  }

  say(line: string): void {
    if (this.text !== '' && !this.text.endsWith('\n')) this.text += '\n'
    this.write(`${line}\n`)
  }
}

/** A place to build in, as the control plane prepares it. */
export class Workbench {
  readonly folder: string
  readonly log = new LogDouble()
  readonly buildId = crypto.randomUUID()

  private constructor(folder: string) {
    this.folder = folder
  }

  static async open(files: Readonly<Record<string, string | Uint8Array>>): Promise<Workbench> {
    const bench = new Workbench(await mkdtemp(join(tmpdir(), 'botcli-build-')))
    await mkdir(join(bench.folder, 'context'))
    await mkdir(join(bench.folder, 'scratch'))
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(bench.folder, 'context', path)), { recursive: true })
      await writeFile(join(bench.folder, 'context', path), content)
    }
    return bench
  }

  get bundles(): string {
    return join(this.folder, 'bundles')
  }

  get output(): string {
    return join(this.bundles, this.buildId)
  }

  input(limits: Partial<BuildLimits> = {}, changes: Partial<BuildInput> = {}): BuildInput {
    return {
      buildId: this.buildId,
      context: join(this.folder, 'context'),
      scratch: join(this.folder, 'scratch'),
      output: this.output,
      dockerfilePath: 'Dockerfile',
      noCache: false,
      imageName: `localhost/botcli/test:${this.buildId}`,
      limits: { ...LIMITS, ...limits },
      ...changes,
    }
  }

  async build(
    builder: Builder,
    options: { limits?: Partial<BuildLimits>; signal?: AbortSignal; changes?: Partial<BuildInput> } = {},
  ): Promise<BuildResult> {
    const signal = options.signal ?? new AbortController().signal
    return await builder.build(this.input(options.limits, options.changes), this.log, signal)
  }

  /** Everything that is left of the build outside of its scratch folder: processes, mounts, outputs. */
  async leftovers(): Promise<readonly string[]> {
    const mounts = await readFile('/proc/self/mounts', 'utf8')
    return [
      ...(await processesOf(this.buildId)).map((pid) => `process ${pid}`),
      ...mounts.split('\n').filter((line) => line.includes(this.folder)),
      ...(await readdir(this.bundles).catch(() => [])),
    ]
  }

  async close(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true })
  }
}
