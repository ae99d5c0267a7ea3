import type { SessionRecord } from '@botcli/protocol/cloud'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { CopyButton } from '../../view/copy-button.tsx'
import { Icon } from '../../view/icon.tsx'
import type { AgentsApi } from '../api/agents-api.ts'
import { LogSearch } from '../log/log-search.ts'
import { shortId, shownSession } from '../state/agent-words.ts'
import { hrefOf } from '../state/route.ts'
import { SessionModel } from '../state/session-model.ts'
import { durationWords } from '../state/words.ts'
import { lastedWords, transportWords } from './agent-sessions.tsx'
import { EntryLog } from './entry-log.tsx'
import { Ago, Badge, Fact, Trouble } from './parts.tsx'
import { Question } from './question.tsx'
import { useModel, useNow } from './use-model.ts'

const NOTHING = new LogSearch('')

interface SessionViewProps {
  readonly api: AgentsApi
  readonly agent: string
  readonly id: string
}

/** One session: how it went, and its log. */
export function SessionView({ api, agent, id }: SessionViewProps): VNode {
  const model = useModel(() => new SessionModel(api, agent, id), [api, agent, id])
  const session = model.session.value
  return (
    <div class="build">
      <div class="heading">
        <div class="crumbs">
          <a href={hrefOf({ name: 'agents' })}>Agents</a>
          <a href={hrefOf({ name: 'agent-sessions', agent, status: undefined })}>{agent}</a>
          <h1 class="mono" tabIndex={-1} title={id}>
            {shortId(id)}
          </h1>
          <CopyButton text={id} label="Copy the id of the session" />
          {session !== undefined && <Badge {...shownSession(session)} />}
        </div>
        {session !== undefined && session.state !== 'ended' && <StopButton model={model} />}
      </div>
      <Trouble text={model.problem.value} />
      {!model.gone.value && (
        <>
          {session !== undefined && <Outcome session={session} />}
          {session !== undefined && <Facts model={model} session={session} />}
          <EntryLog
            log={model.log}
            agent={agent}
            mixed={false}
            search={NOTHING}
            fileName={`session-${id}.log`}
            empty={
              session?.state === 'ended'
                ? 'Nothing was logged in this session, or its log is no longer kept.'
                : 'Nothing was logged yet. Lines will appear here.'
            }
          />
        </>
      )}
    </div>
  )
}

function StopButton({ model }: { readonly model: SessionModel }): VNode {
  const [asking, setAsking] = useState(false)
  return (
    <div class="heading-tools">
      <button type="button" class="button small" data-testid="stop" onClick={() => setAsking(true)}>
        <Icon name="stop" />
        Stop
      </button>
      {asking && (
        <Question
          title="Stop this session?"
          yes="Stop it"
          no="Let it go on"
          onYes={() => model.stop()}
          onClose={() => setAsking(false)}
        >
          Whoever is talking is cut off now.
        </Question>
      )}
    </div>
  )
}

/** The one cause of the end, if it was a failure or is worth a sentence. */
function Outcome({ session: { outcome } }: { readonly session: SessionRecord }): VNode | null {
  if (outcome === null || outcome.message === '') return null
  if (outcome.result === 'ok') {
    return (
      <p class="hint" data-testid="outcome">
        {outcome.message}
      </p>
    )
  }
  return (
    <section class="card failure" data-testid="outcome" aria-label="Why the session failed">
      <h2>{shownSession({ state: 'ended', outcome }).words}</h2>
      <p class="failure-message">{outcome.message}</p>
    </section>
  )
}

interface FactsProps {
  readonly model: SessionModel
  readonly session: SessionRecord
}

function Facts({ model, session }: FactsProps): VNode {
  const now = useNow(session.state === 'ended' ? 30_000 : 1_000)
  const { agent } = model
  const { createdAt, connectedAt, endedAt, botStartSeconds, coldStart, deploymentId, instanceId } = session
  const number = model.deployment.value
  return (
    <dl class="card facts" data-testid="facts">
      <Fact name="Started">
        <Ago at={createdAt} now={now} />
      </Fact>
      <Fact name="Caller came">{connectedAt === null ? '–' : <Ago at={connectedAt} now={now} />}</Fact>
      {endedAt !== null && (
        <Fact name="Ended">
          <Ago at={endedAt} now={now} />
        </Fact>
      )}
      <Fact name="Duration">{lastedWords(session, now)}</Fact>
      <Fact name="Transport">{transportWords(session)}</Fact>
      <Fact name="Start took">
        {botStartSeconds === null ? '–' : startWords(botStartSeconds)}
        {coldStart && <span class="hint">with a new instance</span>}
      </Fact>
      <Fact name="Deployment">
        <a href={hrefOf({ name: 'agent-log', agent, filter: { deploymentId } })}>
          {number === undefined ? shortId(deploymentId) : `#${number}`}
        </a>
      </Fact>
      <Fact name="Instance">
        <a href={hrefOf({ name: 'agent-log', agent, filter: { instanceId } })}>
          <code title={instanceId}>{shortId(instanceId)}</code>
        </a>
      </Fact>
    </dl>
  )
}

/** Starts are short when an instance is there, so they are told more finely. */
function startWords(seconds: number): string {
  return seconds < 1 ? `${Math.round(seconds * 1000)} ms` : durationWords(seconds)
}
