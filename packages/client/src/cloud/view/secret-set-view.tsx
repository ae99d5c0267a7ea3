import type { TargetedSubmitEvent, VNode } from 'preact'
import { useState } from 'preact/hooks'
import { Icon } from '../../view/icon.tsx'
import { messageOf } from '../api/api-error.ts'
import type { CloudApi } from '../api/cloud-api.ts'
import { Fetched } from '../state/fetched.ts'
import { hrefOf } from '../state/route.ts'
import { loadSet, type ShownSet } from '../state/shown-set.ts'
import { Ago, Command, Empty, Trouble } from './parts.tsx'
import { Question } from './question.tsx'
import { SecretFields, secretsOf } from './secret-fields.tsx'
import { useModel, useNow } from './use-model.ts'

interface SecretSetViewProps {
  readonly api: CloudApi
  readonly name: string
}

/** One set: the names in it, and when each was changed. Its values never leave the cloud. */
export function SecretSetView({ api, name }: SecretSetViewProps): VNode {
  const set = useModel(() => new Fetched(() => loadSet(api, name)), [api, name])
  const [removing, setRemoving] = useState<string>()
  const [removingSet, setRemovingSet] = useState(false)
  const answer = set.value.value
  return (
    <>
      <div class="heading">
        <div class="crumbs">
          <a href={hrefOf({ name: 'secrets' })}>Secrets</a>
          <h1 tabIndex={-1}>{name}</h1>
          {answer !== undefined && <span class="hint">{answer.region}</span>}
        </div>
        {answer !== undefined && (
          <div class="heading-tools">
            <button
              type="button"
              class="button small"
              data-testid="remove-set"
              onClick={() => setRemovingSet(true)}
            >
              <Icon name="remove" />
              Delete the set
            </button>
          </div>
        )}
      </div>
      <Trouble text={set.problem.value} />
      {answer?.variables !== undefined && (
        <>
          <Variables list={answer.variables} onRemove={setRemoving} />
          <AddValues api={api} name={name} onDone={() => void set.load()} />
        </>
      )}
      {answer !== undefined && answer.variables === undefined && <Registry name={name} />}
      {removing !== undefined && (
        <Question
          title={`Remove ${removing}?`}
          yes="Remove it"
          onYes={async () => {
            await api.removeSecret(name, removing)
            await set.load()
          }}
          onClose={() => setRemoving(undefined)}
        >
          Its value will be gone for good.
        </Question>
      )}
      {removingSet && (
        <Question
          title={`Delete the set ${name}?`}
          yes="Delete it"
          onYes={async () => {
            await api.removeSecretSet(name)
            location.hash = hrefOf({ name: 'secrets' })
          }}
          onClose={() => setRemovingSet(false)}
        >
          {answer?.variables === undefined
            ? 'The credentials will be gone for good.'
            : 'All its values will be gone for good.'}
        </Question>
      )}
    </>
  )
}

interface VariablesProps {
  readonly list: NonNullable<ShownSet['variables']>
  readonly onRemove: (name: string) => void
}

function Variables({ list, onRemove }: VariablesProps): VNode {
  const now = useNow(10_000)
  return (
    <div class="card">
      <table class="table" data-testid="secrets">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Changed</th>
            <th scope="col">
              <span class="unseen">Remove</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {list.map(({ fieldName, updatedAt }) => (
            <tr key={fieldName}>
              <td data-column="Name">
                <code>{fieldName}</code>
              </td>
              <td data-column="Changed">
                <Ago at={updatedAt} now={now} />
              </td>
              <td class="cell-tools">
                <button
                  type="button"
                  class="quiet"
                  aria-label={`Remove ${fieldName}`}
                  title={`Remove ${fieldName}`}
                  onClick={() => onRemove(fieldName)}
                >
                  <Icon name="remove" />
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Registry({ name }: { readonly name: string }): VNode {
  return (
    <div class="card" data-testid="registry">
      <Empty title="This set opens an image registry">
        <p>It holds credentials to pull images with. They never leave the cloud. To replace them, run:</p>
        <Command text={`botcli secrets image-pull-secret ${name} HOST`} />
      </Empty>
    </div>
  )
}

interface AddValuesProps extends SecretSetViewProps {
  readonly onDone: () => void
}

function AddValues({ api, name, onDone }: AddValuesProps): VNode {
  const [problem, setProblem] = useState<string>()
  const [busy, setBusy] = useState(false)
  const [saved, setSaved] = useState(0)
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault()
    const secrets = secretsOf(new FormData(event.currentTarget))
    setBusy(true)
    try {
      await api.putSecrets(name, { secrets })
      setProblem(undefined)
      // Fields of their own take the place of these, so that no value stays behind in the page.
      setSaved(saved + 1)
      onDone()
    } catch (error) {
      setProblem(messageOf(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <form class="card form" data-testid="values-form" onSubmit={(event) => void submit(event)}>
      <h2>Add or change values</h2>
      <SecretFields key={saved} />
      <Trouble text={problem} />
      <div class="form-tools">
        <span class="hint" role="status">
          {saved > 0 && !busy && 'Saved.'}
        </span>
        <button type="submit" class="button small go" disabled={busy}>
          Save
        </button>
      </div>
    </form>
  )
}
