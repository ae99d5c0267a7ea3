import type { BuildFailure } from '@botcli/protocol/cloud'

/** What a build is made from. */
export interface BuildInput {
  readonly buildId: string
  /** A folder with the context, unpacked; the builder may write beside it, never into it. */
  readonly context: string
  /** A folder of the builder's own, empty, removed after the build. */
  readonly scratch: string
  /** Where a builder without images puts its bundle; it appears only when the build was successful. */
  readonly output: string
  /** Inside of the context. */
  readonly dockerfilePath: string
  readonly noCache: boolean
  /** The name of the image, for builders that make one. */
  readonly imageName: string
  readonly limits: BuildLimits
}

/** What a build may take. */
export interface BuildLimits {
  readonly seconds: number
  readonly memoryBytes: number
  readonly processes: number
  readonly diskBytes: number
}

/** Takes the output of a build: bytes as they come, of stdout and stderr alike. Cleaning into lines is not the builder's task. */
export interface BuildOutput {
  write(bytes: Uint8Array | string): void
  /** A line of our own, such as which builder was taken. It ends what was written before. */
  say(line: string): void
}

/** An image that a build began with or took files from, as the builder had it then. */
export interface BaseImage {
  /** As the container build file names it. */
  readonly name: string
  /** What the name stood for; nothing if the builder cannot tell. */
  readonly id: string | null
}

/** What a build came to. */
export type BuildResult =
  | {
      readonly ok: true
      readonly imageUri: string
      readonly imageSizeBytes: number
      readonly bases: readonly BaseImage[]
    }
  | {
      readonly ok: false
      /** The one telling line. */
      readonly message: string
      readonly failure: BuildFailure
      /** The time limit ended it, be it the builder's own or an abort whose reason is a `TimeoutError`. */
      readonly timedOut?: true
    }

/** Makes deployable artifacts of contexts. */
export interface Builder {
  /** As the log names it, with its version, such as `buildah 1.28.2`. */
  readonly name: string
  /** Set if it makes bundles, which the cloud's own botcli runs, and not images, which have one inside. */
  readonly makesBundles?: true
  /**
   * Builds. An abort ends every process of the build and removes what it left; the promise settles after that. It rejects only for faults of
   * ours.
   */
  build(input: BuildInput, output: BuildOutput, signal: AbortSignal): Promise<BuildResult>
  /** Ends and removes what a builder that was killed has left of a build. */
  cleanUp(buildId: string): Promise<void>
  /** Whether an artifact is still there, and its bases are what their names stand for today. */
  isFresh(imageUri: string, bases: readonly BaseImage[]): Promise<boolean>
  /** Removes the artifact of a build. */
  remove(imageUri: string): Promise<void>
}

/** A way to build that may or may not work on this machine. */
export interface BuilderProbe {
  readonly kind: 'docker' | 'buildah' | 'native'
  /** A builder, or why there is none, in a sentence. */
  probe(): Promise<Builder | { readonly unavailable: string }>
}
