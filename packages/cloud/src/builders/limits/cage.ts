import type { BuildLimits } from '../builder.ts'

/** Holds the processes of one build together and keeps them within its limits. */
export interface Cage {
  /** The command that starts another one inside. */
  enter(argv: readonly string[]): readonly string[]
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
  open(buildId: string, limits: BuildLimits): Promise<Cage>
  /** Ends and removes what is left of a build whose owner was killed. */
  cleanUp(buildId: string): Promise<void>
}

/** The name of whatever is made for a build. */
export function cageName(buildId: string): string {
  return `botcli-${buildId}`
}

/** Runs a command once its own process id is in the given files. */
export function enterByFiles(files: readonly string[], argv: readonly string[]): readonly string[] {
  const script = 'while [ "$1" != -- ]; do echo $$ > "$1" || exit 125; shift; done; shift; exec "$@"'
  return ['/bin/sh', '-c', script, 'sh', ...files, '--', ...argv]
}
