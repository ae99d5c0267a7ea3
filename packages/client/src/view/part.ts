import type { PageModel } from '../state/page-model.ts'

/** What every part of the page is given. */
export interface PartProps {
  readonly model: PageModel
}
