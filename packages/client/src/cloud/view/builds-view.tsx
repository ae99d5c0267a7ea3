import type { BuildRecord, BuildStatus } from '@botcli/protocol/cloud'
import type { VNode } from 'preact'
import type { CloudApi } from '../api/cloud-api.ts'
import { BuildsModel } from '../state/builds-model.ts'
import { hrefOf } from '../state/route.ts'
import {
  countWords,
  durationWords,
  FAILURE_WORDS,
  STATUS_WORDS,
  shownStatus,
  sizeWords,
} from '../state/words.ts'
import { Ago, Command, Empty, Heading, StatusBadge, Trouble } from './parts.tsx'
import { useModel, useNow } from './use-model.ts'

const FILTERS: readonly (BuildStatus | undefined)[] = [
  undefined,
  'pending',
  'building',
  'success',
  'failed',
  'timeout',
]

interface BuildsViewProps {
  readonly api: CloudApi
  readonly status: BuildStatus | undefined
}

/** All builds, the newest first. */
export function BuildsView({ api, status }: BuildsViewProps): VNode {
  const model = useModel(() => new BuildsModel(api, status), [api, status])
  const list = model.list.value
  return (
    <>
      <Heading title="Builds">
        {list !== undefined && list.total > 0 && <span class="hint">{countWords(list.total, 'build')}</span>}
      </Heading>
      <nav class="filters" aria-label="Status">
        {FILTERS.map((filter) => (
          <a
            key={filter ?? 'all'}
            href={hrefOf({ name: 'builds', status: filter })}
            aria-current={filter === status ? 'true' : undefined}
          >
            {filter === undefined ? 'All' : STATUS_WORDS[filter]}
          </a>
        ))}
      </nav>
      <Trouble text={model.problem.value} />
      <div class="card" aria-busy={list === undefined}>
        {list === undefined ? (
          <p class="loading">Loading builds…</p>
        ) : (
          <BuildsTable builds={list.builds} status={status} />
        )}
      </div>
      {(model.hasNewer.value || model.hasOlder.value) && (
        <div class="paging">
          <button
            type="button"
            class="button small"
            disabled={!model.hasNewer.value}
            onClick={() => model.newer()}
          >
            Newer
          </button>
          <span class="hint" data-testid="page">
            {model.firstShown.value}–{model.firstShown.value + (list?.builds.length ?? 0) - 1} of{' '}
            {list?.total}
          </span>
          <button
            type="button"
            class="button small"
            disabled={!model.hasOlder.value}
            onClick={() => model.older()}
          >
            Older
          </button>
        </div>
      )}
    </>
  )
}

interface BuildsTableProps {
  readonly builds: readonly BuildRecord[]
  readonly status: BuildStatus | undefined
}

function BuildsTable({ builds, status }: BuildsTableProps): VNode {
  const now = useNow(builds.some((build) => build.status === 'building') ? 1_000 : 10_000)
  if (builds.length === 0) {
    return status === undefined ? (
      <Empty title="There are no builds yet">
        <p>Run this in the folder of your bot:</p>
        <Command text="botcli build create" />
      </Empty>
    ) : (
      <Empty title={`No build is “${STATUS_WORDS[status]}”`}>
        <a href={hrefOf({ name: 'builds', status: undefined })}>Show all builds</a>
      </Empty>
    )
  }
  return (
    <table class="table leading" data-testid="builds">
      <thead>
        <tr>
          <th scope="col">Build</th>
          <th scope="col">Status</th>
          <th scope="col">Region</th>
          <th scope="col">Created</th>
          <th scope="col">Took</th>
          <th scope="col">Context</th>
        </tr>
      </thead>
      <tbody>
        {builds.map((build) => (
          <tr key={build.id} data-testid="build-row">
            <td data-column="Build">
              <a
                class="row-link mono"
                href={hrefOf({ name: 'build', id: build.id, line: undefined })}
                title={build.id}
              >
                {build.id.slice(0, 8)}
              </a>
              {build.failure !== null && shownStatus(build) !== 'cancelled' && (
                <span class="build-why">{FAILURE_WORDS[build.failure.code]}</span>
              )}
            </td>
            <td data-column="Status">
              <StatusBadge build={build} />
            </td>
            <td data-column="Region">{build.region}</td>
            <td data-column="Created">
              <Ago at={build.createdAt} now={now} />
            </td>
            <td data-column="Took">{tookWords(build, now)}</td>
            <td data-column="Context">{sizeWords(build.contextSizeBytes)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** How long a build took, or takes until now. */
export function tookWords(
  { buildDurationSeconds, startedAt, completedAt }: BuildRecord,
  now: number,
): string {
  if (buildDurationSeconds !== null) return durationWords(buildDurationSeconds)
  if (startedAt === null || completedAt !== null) return '–'
  return durationWords(Math.max(0, Math.floor((now - Date.parse(startedAt)) / 1000)))
}
