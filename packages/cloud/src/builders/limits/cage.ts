/** What the processes in a cage may take together. */
export interface CageLimits {
  readonly memoryBytes: number
  readonly processes: number
  /** Shares of processors, where they can be limited. */
  readonly cpus?: number
}

/** A command and the variables that it is started with. */
export interface CagedCommand {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** Holds the processes of one build or instance together and keeps them within its limits. */
export interface Cage {
  /** The command that starts another one inside. That one gets its own variables, whatever is needed to enter. */
  enter(command: CagedCommand): CagedCommand
  /** Whether something inside was stopped because of the limit on memory. */
  outOfMemory(): Promise<boolean>
  /** Looks after the processes of a command that was started with this process id, where nothing else does. */
  watch?(pid: number, exceeded: (what: 'memory' | 'processes') => void): { stop(): void }
  /** Ends every process inside. */
  kill(): Promise<void>
  /** Ends every process inside and removes what was made for it. */
  close(): Promise<void>
}

/** A means to make cages. */
export interface CageMaker {
  /** As the log names it. */
  readonly name: string
  open(id: string, limits: CageLimits): Promise<Cage>
  /** The one that was opened by this name before, possibly by another process. */
  find(id: string): Cage
  /** Ends and removes what is left of one whose owner was killed. */
  cleanUp(id: string): Promise<void>
}

/** The name of whatever is made for a build or an instance. */
export function cageName(id: string): string {
  return `botcli-${id}`
}

/** Runs a command once its own process id is in the given files. */
export function enterByFiles(files: readonly string[], { argv, env }: CagedCommand): CagedCommand {
  const script = 'while [ "$1" != -- ]; do echo $$ > "$1" || exit 125; shift; done; shift; exec "$@"'
  return { argv: ['/bin/sh', '-c', script, 'sh', ...files, '--', ...argv], env }
}
