import type { AgentDetails, DeployFailure } from '@botcli/protocol/cloud'
import type { VNode } from 'preact'
import { Icon } from '../../view/icon.tsx'
import { hrefOf } from '../state/route.ts'

/** What the codes of failures mean, for people. */
const TITLES: Readonly<Record<string, string>> = {
  'DEPLOY-START-FAILED': 'The bot could not be started',
  'DEPLOY-IMAGE-NOT-FOUND': 'What the build made is gone',
  'DEPLOY-SECRET-NOT-FOUND': 'A secret set is missing',
  'DEPLOY-NOT-READY': 'The bot did not become ready',
  CrashLoopBackOff: 'The bot ends again and again',
  StartFailed: 'The bot could not be started',
  OOMKilled: 'The bot ran out of memory',
  Error: 'The bot ended with an error',
}

interface AgentTroubleProps {
  readonly agent: AgentDetails
}

/** What is wrong with an agent now: a deployment that failed, instances that end, and whatever else the cloud reports. */
export function AgentTrouble({ agent }: AgentTroubleProps): VNode | null {
  const failure = agent.deployment.failure ?? failureOfHealth(agent)
  // What the card says needs no second time.
  const errors = agent.errors.filter(({ code }) => code !== failure?.code)
  if (failure === null && errors.length === 0) return null
  return (
    <>
      {failure !== null && <DeployFailureCard agent={agent} failure={failure} />}
      {errors.map(({ code, message }) => (
        <div key={`${code} ${message}`} class="notice agent-error" data-testid="agent-error">
          <div>
            <strong>{TITLES[code] ?? code}</strong>
            <p>{message}</p>
          </div>
        </div>
      ))}
    </>
  )
}

/** Instances that were ready once may end later; the health of what runs then has the bot's last words. */
function failureOfHealth({ currentRevision: { health } }: AgentDetails): DeployFailure | null {
  if (health.reason === null || health.ready) return null
  const exit = health.lastExitCode === null ? '' : ` with exit code ${health.lastExitCode}`
  return {
    code: health.reason,
    message: `An instance ended${exit}, and was started again ${health.restartCount === 1 ? 'once' : `${health.restartCount} times`}.`,
    detail: health.message,
    exitCode: health.lastExitCode,
  }
}

interface DeployFailureCardProps {
  readonly agent: AgentDetails
  readonly failure: DeployFailure
}

function DeployFailureCard({ agent, failure }: DeployFailureCardProps): VNode {
  const { name, deployment, available } = agent
  const filter = { deploymentId: deployment.id }
  return (
    <section class="card failure" data-testid="failure" aria-label="What is wrong">
      <div class="failure-head">
        <h2>{TITLES[failure.code] ?? `Deployment #${deployment.number} failed`}</h2>
        <a class="button small" href={hrefOf({ name: 'agent-log', agent: name, filter })}>
          <Icon name="log" />
          Log of #{deployment.number}
        </a>
      </div>
      <p>{failure.message}</p>
      <LastWords failure={failure} />
      {deployment.failure !== null && (
        <p class="failure-hint">
          {available
            ? 'The deployment before it still takes sessions.'
            : 'No deployment takes sessions. Mend the bot and run botcli deploy again.'}
        </p>
      )}
    </section>
  )
}

/** The bot's own traceback, or the end of its output. */
export function LastWords({ failure }: { readonly failure: DeployFailure }): VNode | null {
  if (failure.detail === null || failure.detail.trim() === '') return null
  return (
    <section
      class="last-words"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and only what has the focus scrolls by keys
      tabIndex={0}
      aria-label="The bot’s last words"
      data-testid="traceback"
    >
      <pre>{failure.detail.trimEnd()}</pre>
    </section>
  )
}
