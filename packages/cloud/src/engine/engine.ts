import type { InstanceSettings } from '@botcli/protocol'

/** What an instance is made of: a folder that the native builder made, or an image. */
export type Artifact =
  | { readonly kind: 'bundle'; readonly folder: string }
  | {
      readonly kind: 'image'
      readonly name: string
      /**
       * Of an image that no build here has made. It is fetched each time from the registry that its name begins with, and never taken from
       * what is on this machine already.
       */
      readonly foreign?: { readonly credentials: Credentials | undefined }
    }

/** What a registry lets somebody in with. */
export interface Credentials {
  readonly host: string
  /** In base64, `user:token`. */
  readonly auth: string
}

/** What an engine needs to start an instance. */
export interface InstanceSpec {
  /** The engine decides where its socket and its journal are. */
  readonly settings: Omit<InstanceSettings, 'version' | 'socket' | 'journal'>
  readonly artifact: Artifact
  /** Variables of the bot: those of its secrets. */
  readonly env: Readonly<Record<string, string>>
  readonly limits: { readonly memoryBytes: number; readonly cpus: number }
}

/** How an instance ended. Of one that was started before this process was, it may not be known. */
export interface InstanceExit {
  readonly code: number | null
  readonly signal: string | null
  readonly outOfMemory: boolean
}

/** An instance that was started, and may have ended since. */
export interface Instance {
  readonly id: string
  /** Where it listens, once it is ready. */
  readonly socketPath: string
  readonly journalFolder: string
  /** What its process has printed beside its journal, such as why it could not start. */
  readonly outputPath: string
  readonly exited: Promise<InstanceExit>
  /** Asks it to end, and ends all of its processes after so long. Resolves when it is gone. */
  stop(graceMs: number): Promise<void>
}

/**
 * Runs instances. They are no part of this process: they go on when it ends, however it ends, and the next one finds them by what is in
 * their folders.
 */
export interface Engine {
  /** What it runs bundles and images with, in words for the log. */
  readonly description: string
  /** Why an artifact cannot be run here, in a sentence; nothing if it can. */
  refusal(artifact: Artifact): Promise<string | undefined>
  /**
   * Starts an instance. It need not be ready when this resolves. Rejects if there is no process at all; soon, and with nothing left behind,
   * if it is not wanted any more before there is one.
   */
  start(spec: InstanceSpec, unwanted?: AbortSignal): Promise<Instance>
  /** An instance that an earlier process has started. If it is not running any more, its `exited` is resolved. Nothing if there is no trace of it. */
  find(id: string): Promise<Instance | undefined>
  /** Every instance of which something is left. */
  list(): Promise<readonly string[]>
  /** Removes what is left of one that has ended. */
  remove(id: string): Promise<void>
  /** Lets go of all instances; they go on. */
  close(): Promise<void>
}
