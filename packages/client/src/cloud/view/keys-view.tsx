import type { CreateKeyResponse, KeyRecord } from '@botcli/protocol/cloud'
import type { TargetedSubmitEvent, VNode } from 'preact'
import { useState } from 'preact/hooks'
import { CopyButton } from '../../view/copy-button.tsx'
import { Icon } from '../../view/icon.tsx'
import { messageOf } from '../api/api-error.ts'
import type { CloudApi } from '../api/cloud-api.ts'
import { Fetched } from '../state/fetched.ts'
import type { Session } from '../state/session.ts'
import { Ago, Heading, Trouble } from './parts.tsx'
import { Question } from './question.tsx'
import { fieldOf } from './secret-fields.tsx'
import { useFirstField, useModel, useNow } from './use-model.ts'

interface KeysViewProps {
  readonly api: CloudApi
  readonly session: Session
}

/** The keys of the organization. */
export function KeysView({ api, session }: KeysViewProps): VNode {
  const keys = useModel(() => new Fetched(() => api.keys()), [api])
  const [making, setMaking] = useState(false)
  const [made, setMade] = useState<CreateKeyResponse>()
  const list = keys.value.value
  return (
    <>
      <Heading title="Keys">
        {!making && (
          <button type="button" class="button small go" data-testid="new-key" onClick={() => setMaking(true)}>
            <Icon name="add" />
            New key
          </button>
        )}
      </Heading>
      <Trouble text={keys.problem.value} />
      {making && (
        <NewKey
          api={api}
          onClose={() => setMaking(false)}
          onMade={(key) => {
            setMade(key)
            setMaking(false)
            void keys.load()
          }}
        />
      )}
      {made !== undefined && <MadeKey made={made} onClose={() => setMade(undefined)} />}
      <div class="card" aria-busy={list === undefined}>
        {list === undefined ? (
          <p class="loading">Loading keys…</p>
        ) : (
          <KeysTable api={api} list={list} used={session.key.value ?? ''} onChange={() => keys.load()} />
        )}
      </div>
    </>
  )
}

interface KeysTableProps {
  readonly api: CloudApi
  readonly list: readonly KeyRecord[]
  /** The key that one is signed in with. */
  readonly used: string
  readonly onChange: () => Promise<void>
}

function KeysTable({ api, list, used, onChange }: KeysTableProps): VNode {
  const now = useNow(10_000)
  const [revoking, setRevoking] = useState<KeyRecord>()
  const isUsed = ({ prefix, revokedAt }: KeyRecord): boolean => revokedAt === null && used.startsWith(prefix)
  return (
    <>
      <table class="table" data-testid="keys">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Opens</th>
            <th scope="col">Key</th>
            <th scope="col">Created</th>
            <th scope="col">Last used</th>
            <th scope="col">
              <span class="unseen">Revoke</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {list.map((key) => (
            <tr key={key.id} data-testid="key-row" data-revoked={key.revokedAt !== null}>
              <td data-column="Name">
                {key.name}
                {isUsed(key) && <span class="tag">in use here</span>}
              </td>
              <td class="cell-whole" data-column="Opens">
                {key.family === 'private' ? 'Private API' : 'Public API'}
              </td>
              <td class="cell-whole" data-column="Key">
                <code>{key.prefix}…</code>
              </td>
              <td data-column="Created">
                <Ago at={key.createdAt} now={now} />
              </td>
              <td data-column="Last used">
                {key.lastUsedAt === null ? 'Never' : <Ago at={key.lastUsedAt} now={now} />}
              </td>
              <td class="cell-tools">
                {key.revokedAt === null ? (
                  <button
                    type="button"
                    class="button small"
                    aria-label={`Revoke ${key.name}`}
                    onClick={() => setRevoking(key)}
                  >
                    Revoke
                  </button>
                ) : (
                  <span class="hint">Revoked</span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {revoking !== undefined && (
        <Question
          title={`Revoke “${revoking.name}”?`}
          yes="Revoke it"
          onYes={async () => {
            await api.revokeKey(revoking.id)
            await onChange()
          }}
          onClose={() => setRevoking(undefined)}
        >
          <p>
            <code>{revoking.prefix}…</code> opens nothing from then on. Whatever uses it will be refused.
          </p>
          {isUsed(revoking) && (
            <p>
              <strong>It is the key that you are signed in with, so you will be signed out.</strong>
            </p>
          )}
        </Question>
      )}
    </>
  )
}

interface NewKeyProps {
  readonly api: CloudApi
  readonly onMade: (made: CreateKeyResponse) => void
  readonly onClose: () => void
}

function NewKey({ api, onMade, onClose }: NewKeyProps): VNode {
  const [problem, setProblem] = useState<string>()
  const [busy, setBusy] = useState(false)
  const first = useFirstField()
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const family = fieldOf(form, 'family') === 'public' ? 'public' : 'private'
    setBusy(true)
    try {
      onMade(await api.createKey({ name: fieldOf(form, 'name').trim(), family }))
    } catch (error) {
      setProblem(messageOf(error))
      setBusy(false)
    }
  }
  return (
    <form class="card form" data-testid="key-form" onSubmit={(event) => void submit(event)}>
      <h2>New key</h2>
      <div class="form-row">
        <label for="key-name">Name</label>
        <input
          id="key-name"
          ref={first}
          name="name"
          class="input"
          required
          maxLength={100}
          pattern=".*\S.*"
          title="What the key is for"
          placeholder="What it is for, such as CI"
          autocomplete="off"
        />
      </div>
      <fieldset class="choices">
        <legend>Opens</legend>
        <label class="check">
          <input type="radio" name="family" value="private" defaultChecked />
          <span>
            Private API <span class="hint">everything that this page shows</span>
          </span>
        </label>
        <label class="check">
          <input type="radio" name="family" value="public" />
          <span>
            Public API <span class="hint">starting sessions, for apps that people use</span>
          </span>
        </label>
      </fieldset>
      <Trouble text={problem} />
      <div class="form-tools">
        <button type="button" class="button small" onClick={onClose}>
          Never mind
        </button>
        <button type="submit" class="button small go" disabled={busy}>
          Make the key
        </button>
      </div>
    </form>
  )
}

interface MadeKeyProps {
  readonly made: CreateKeyResponse
  readonly onClose: () => void
}

function MadeKey({ made, onClose }: MadeKeyProps): VNode {
  return (
    <div class="notice made" data-tone="info" role="status" data-testid="made-key">
      <div>
        <strong>Copy “{made.record.name}” now. It is not shown again.</strong>
        <p class="command">
          <code>{made.key}</code>
          <CopyButton text={made.key} label="Copy the key" />
        </p>
      </div>
      <button type="button" class="quiet" aria-label="Hide the key" onClick={onClose}>
        <Icon name="close" />
      </button>
    </div>
  )
}
