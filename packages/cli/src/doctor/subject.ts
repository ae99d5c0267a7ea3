import { lastLine, type ProgramAnswer, Programs, type Spawn } from './programs.ts'
import { openProject, type Project } from './project.ts'
import { type PythonSearch, searchPython } from './python.ts'
import { Shell } from './shell.ts'

/** What is given to an examination. */
export interface SubjectOptions {
  readonly directory: string
  readonly cwd: string
  /** Where the runner will listen. */
  readonly port: number
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  readonly spawn?: Spawn
}

/** A tool of this machine: its version, or why there is none. */
export type Tool = { readonly version: string } | { readonly problem: string; readonly absent: boolean }

/** Everything that checks look at. What several of them ask for is found out once. */
export class Subject {
  readonly project: Project
  readonly shell: Shell
  readonly env: Readonly<Record<string, string | undefined>>
  readonly port: number
  readonly signal: AbortSignal
  readonly #programs: Programs
  readonly #tools = new Map<string, Promise<Tool>>()
  #python: Promise<PythonSearch> | undefined

  private constructor(project: Project, options: SubjectOptions) {
    const { env, signal, spawn } = options
    this.project = project
    this.shell = new Shell(options.cwd)
    this.env = env
    this.port = options.port
    this.signal = signal
    this.#programs = new Programs({ env, signal, ...(spawn && { spawn }) })
  }

  static async open(options: SubjectOptions): Promise<Subject> {
    return new Subject(await openProject(options.directory, options.cwd), options)
  }

  /** The Python that the bot would run with. */
  python(): Promise<PythonSearch> {
    this.#python ??= searchPython(this.project, this.#programs, this.env)
    return this.#python
  }

  /** A tool that says its version when it is asked with `--version`. */
  tool(name: string): Promise<Tool> {
    const known = this.#tools.get(name) ?? this.run(name, ['--version']).then(readTool)
    this.#tools.set(name, known)
    return known
  }

  /** Runs a program in the folder of the project. */
  run(file: string, args: readonly string[]): Promise<ProgramAnswer> {
    return this.#programs.run(file, args, this.project.folder)
  }
}

function readTool(answer: ProgramAnswer): Tool {
  switch (answer.kind) {
    case 'absent':
      return { problem: 'is not installed', absent: true }
    case 'late':
      return { problem: `did not answer within ${answer.seconds} seconds`, absent: false }
    case 'unusable':
      return { problem: `cannot be run (${answer.reason})`, absent: false }
    case 'ended': {
      const version = /\d+\.\d+(?:\.\d+)?/.exec(answer.stdout)?.[0]
      if (answer.code === 0 && version !== undefined) return { version }
      const why = lastLine(answer.stderr) || `exit code ${answer.code}`
      return { problem: `cannot be run (${why})`, absent: false }
    }
  }
}
