import type { BuildRecord } from '@botcli/protocol/cloud'
import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { CopyButton } from '../../view/copy-button.tsx'
import { Icon } from '../../view/icon.tsx'
import type { CloudApi } from '../api/cloud-api.ts'
import { BuildModel } from '../state/build-model.ts'
import { hrefOf } from '../state/route.ts'
import { isOver, sizeWords } from '../state/words.ts'
import { BuildLog } from './build-log.tsx'
import { tookWords } from './builds-view.tsx'
import { FailureCard } from './failure-card.tsx'
import { Ago, Fact, StatusBadge, Trouble } from './parts.tsx'
import { Question } from './question.tsx'
import { useModel, useNow } from './use-model.ts'

interface BuildViewProps {
  readonly api: CloudApi
  readonly id: string
  /** The line that the address points at, from 1. */
  readonly line: number | undefined
}

/** One build: what is known of it, why it failed, and its log. */
export function BuildView({ api, id, line }: BuildViewProps): VNode {
  const model = useModel(() => new BuildModel(api, id), [api, id])
  useEffect(() => model.log.select(line === undefined ? undefined : line - 1), [model, line])
  const build = model.build.value
  return (
    <div class="build">
      <div class="heading">
        <div class="crumbs">
          <a href={hrefOf({ name: 'builds', status: undefined })}>Builds</a>
          <h1 class="mono" tabIndex={-1} title={id}>
            {id.slice(0, 8)}
          </h1>
          <CopyButton text={id} label="Copy the id of the build" />
          {build !== undefined && <StatusBadge build={build} />}
        </div>
        {build !== undefined && <Actions model={model} build={build} />}
      </div>
      <Trouble text={model.problem.value} />
      {!model.gone.value && (
        <>
          {build !== undefined && <FailureCard model={model} build={build} />}
          {build !== undefined && <Facts build={build} />}
          <BuildLog model={model} />
        </>
      )}
    </div>
  )
}

function Actions({ model, build }: { readonly model: BuildModel; readonly build: BuildRecord }): VNode {
  const [asking, setAsking] = useState<'cancel' | 'remove'>()
  const close = (): void => setAsking(undefined)
  return (
    <div class="heading-tools">
      {isOver(build.status) ? (
        <button type="button" class="button small" data-testid="remove" onClick={() => setAsking('remove')}>
          <Icon name="remove" />
          Delete
        </button>
      ) : (
        <button type="button" class="button small" data-testid="cancel" onClick={() => setAsking('cancel')}>
          <Icon name="close" />
          Cancel the build
        </button>
      )}
      {asking === 'cancel' && (
        <Question
          title="Cancel this build?"
          yes="Cancel the build"
          no="Let it go on"
          onYes={() => model.cancel()}
          onClose={close}
        >
          It ends without a result, and its log is kept.
        </Question>
      )}
      {asking === 'remove' && (
        <Question
          title="Delete this build?"
          yes="Delete it"
          onYes={async () => {
            await model.remove()
            location.hash = hrefOf({ name: 'builds', status: undefined })
          }}
          onClose={close}
        >
          Its log{build.imageUri === null ? '' : ' and what it made'} will be gone for good.
        </Question>
      )}
    </div>
  )
}

function Facts({ build }: { readonly build: BuildRecord }): VNode {
  const now = useNow(isOver(build.status) ? 30_000 : 1_000)
  return (
    <dl class="card facts" data-testid="facts">
      <Fact name="Created">
        <Ago at={build.createdAt} now={now} />
      </Fact>
      <Fact name="Took">{tookWords(build, now)}</Fact>
      <Fact name="Region">{build.region}</Fact>
      <Fact name="Build file">
        <code>{build.dockerfilePath}</code>
      </Fact>
      <Fact name="Context">
        {sizeWords(build.contextSizeBytes)}{' '}
        <code title={build.contextHash}>{build.contextHash.slice(0, 8)}</code>
      </Fact>
      {build.imageSizeBytes !== null && <Fact name="Result">{sizeWords(build.imageSizeBytes)}</Fact>}
      {build.imageUri !== null && (
        <Fact name="Image" wide>
          <code title={build.imageUri}>{build.imageUri}</code>
          <CopyButton text={build.imageUri} label="Copy the name of the image" />
        </Fact>
      )}
    </dl>
  )
}
