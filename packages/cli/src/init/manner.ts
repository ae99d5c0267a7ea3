import type { ComparedFile, GuideReview } from '@botcli/scaffold'

/** Decides, with the user, about what is in the way. */
export interface Asker {
  /** Which of these guides to overwrite. */
  refresh(reviews: readonly GuideReview[]): Promise<ReadonlySet<string>>
  /** Whether to overwrite all of these files. */
  overwrite(conflicts: readonly ComparedFile[]): Promise<boolean>
}

/** How something is written. */
export interface Manner {
  readonly force: boolean
  readonly overwriteGuide: boolean
  readonly signal: AbortSignal
  /** There when there is somebody to ask. */
  readonly asker?: Asker
}
