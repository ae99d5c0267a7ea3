/** One file of a project. */
export interface PlannedFile {
  /** Relative to the project, with `/` between its parts. */
  readonly path: string
  readonly content: string
  /** The file itself when it is not text; `content` is empty then. */
  readonly bytes?: Uint8Array
}

/** One thing to do after the project was written, true for this very configuration. */
export interface NextStep {
  /** What it is for, in a few words. */
  readonly title: string
  /** Commands to paste, from the folder of the project on. */
  readonly commands: readonly string[]
}

/** A variable that the generated code reads. */
export interface EnvVariable {
  readonly name: string
  readonly required: boolean
  /** What holds when it is not set, for one that is not required. */
  readonly fallback?: string
  /** Where to get it, or what it is for. */
  readonly hint: string
}
