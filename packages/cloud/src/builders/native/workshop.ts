import { mkdir, readdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { BuildInput, BuildOutput } from '../builder.ts'
import { classify, type FailedResult } from '../failures/classify.ts'
import { limitReached } from '../failures/limit-reached.ts'
import { OutputTail } from '../failures/output-tail.ts'
import { requirementsFile } from '../failures/requirements-file.ts'
import type { LimitedRun } from '../limits/limiter.ts'
import type { SandboxView } from '../limits/sandbox.ts'
import { buildEnvironment, type NativeTools, toolFolders } from './tools.ts'

/** A command of the native builder, and where it is written in the container build file. */
export interface WorkshopCommand {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  readonly step: { readonly text: string; readonly line: number } | undefined
  /** Takes the output instead of the log. */
  readonly quiet?: (text: string) => void
}

/** Where one native build is done: its folders, its environment, its limits. */
export class Workshop {
  readonly input: BuildInput
  readonly tools: NativeTools
  readonly tail: OutputTail
  /** The bundle while it is made. */
  readonly bundle: string
  readonly #run: LimitedRun
  readonly #signal: AbortSignal
  readonly #view: SandboxView

  private constructor(
    input: BuildInput,
    tools: NativeTools,
    output: BuildOutput,
    run: LimitedRun,
    signal: AbortSignal,
    view: SandboxView,
  ) {
    this.input = input
    this.tools = tools
    this.tail = new OutputTail(output)
    this.bundle = join(input.scratch, 'bundle')
    this.#run = run
    this.#signal = signal
    this.#view = view
  }

  static async open(options: {
    readonly input: BuildInput
    readonly tools: NativeTools
    readonly output: BuildOutput
    readonly run: LimitedRun
    readonly signal: AbortSignal
    readonly hide: readonly string[]
  }): Promise<Workshop> {
    const { input, tools, output, run, signal, hide } = options
    for (const name of ['bundle', 'home', 'tmp', 'cache'])
      await mkdir(join(input.scratch, name), { recursive: true })
    const view = {
      hide: await existing([...hide, homedir()]),
      show: await existing([...toolFolders(tools), input.context]),
      write: [input.scratch],
    }
    return new Workshop(input, tools, output, run, signal, view)
  }

  /** Runs a command; what it came to if that was a failure. */
  async run(command: WorkshopCommand): Promise<FailedResult | undefined> {
    this.tail.clear()
    const quiet = command.quiet
    const end = await this.#run.run({
      argv: command.argv,
      cwd: command.cwd,
      env: buildEnvironment(this.input.scratch, this.tools, command.env ?? {}),
      view: this.#view,
      output:
        quiet === undefined
          ? (bytes) => this.tail.write(bytes)
          : (bytes) => quiet(Buffer.from(bytes).toString()),
    })
    const { step } = command
    const reached = limitReached(end, this.input.limits, step, this.#signal)
    if (reached !== undefined || end.status === 0) return reached
    const requirements = await requirementsFile(this.input)
    return classify({ lines: this.tail.lines, status: end.status, step, requirements })
  }
}

/** Only folders that are there can be hidden or shown, and `/` is neither. */
async function existing(paths: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(
    paths.map(async (path) => {
      if (path === '/' || path === '/usr') return []
      return await readdir(path).then(
        () => [path],
        (error: NodeJS.ErrnoException) => (error.code === 'ENOTDIR' ? [path] : []),
      )
    }),
  )
  return [...new Set(found.flat())]
}
