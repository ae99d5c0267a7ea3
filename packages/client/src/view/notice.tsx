import type { VNode } from 'preact'
import { Icon } from './icon.tsx'
import type { PartProps } from './part.ts'

/** What went wrong, or how it ended, in words. The region is always there, so that screen readers watch it. */
export function Notice({ model }: PartProps): VNode {
  const problem = model.problem.value
  return (
    <div class="notices" role="alert">
      {problem && (
        <div class="notice" data-testid="error" data-tone={problem.tone}>
          <div>
            <strong>{problem.title}</strong>
            {problem.detail !== '' && <p>{problem.detail}</p>}
          </div>
          <button type="button" class="quiet" aria-label="Dismiss" onClick={() => model.dismissProblem()}>
            <Icon name="close" />
          </button>
        </div>
      )}
    </div>
  )
}
