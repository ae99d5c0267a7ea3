import type { BuildRecord } from '@botcli/protocol/cloud'
import type { VNode } from 'preact'
import { Icon } from '../../view/icon.tsx'
import type { BuildModel } from '../state/build-model.ts'
import { FAILURE_WORDS, isOver, shownStatus } from '../state/words.ts'

interface FailureCardProps {
  readonly model: BuildModel
  readonly build: BuildRecord
}

/** Why a build failed, where, and what to do about it. */
export function FailureCard({ model, build }: FailureCardProps): VNode | null {
  if (!isOver(build.status) || build.status === 'success') return null
  const { failure, errorMessage } = build
  const line = model.failingLine.value
  const title = failure === null ? titleWithout(build) : FAILURE_WORDS[failure.code]
  // The cloud's own messages are often the title once more.
  const message = errorMessage !== null && plain(errorMessage) !== plain(title) ? errorMessage : undefined
  return (
    <section
      class="card failure"
      data-testid="failure"
      data-status={shownStatus(build)}
      aria-label="Why the build has no result"
    >
      <div class="failure-head">
        <h2>{title}</h2>
        {line !== undefined && (
          <button
            type="button"
            class="button small"
            data-testid="show-failure"
            onClick={() => model.log.show(line)}
          >
            <Icon name="log" />
            Show line {line + 1} of the log
          </button>
        )}
      </div>
      {failure?.step != null && (
        <p class="failure-step">
          <code>{failure.step}</code>
          <span class="hint">
            {build.dockerfilePath}
            {failure.line !== null && `, line ${failure.line}`}
          </span>
        </p>
      )}
      {message !== undefined && <p class="failure-message">{message}</p>}
      {failure !== null && (
        <p class="failure-hint">
          <strong>What to do:</strong> {failure.hint}
        </p>
      )}
    </section>
  )
}

function titleWithout({ status }: BuildRecord): string {
  return status === 'timeout' ? 'The build took too long' : 'The build failed'
}

function plain(text: string): string {
  return text.replace(/[.\s]+$/, '').toLowerCase()
}
