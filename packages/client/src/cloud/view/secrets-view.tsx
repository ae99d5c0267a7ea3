import type { TargetedSubmitEvent, VNode } from 'preact'
import { useState } from 'preact/hooks'
import { Icon } from '../../view/icon.tsx'
import { messageOf } from '../api/api-error.ts'
import type { CloudApi } from '../api/cloud-api.ts'
import { Fetched } from '../state/fetched.ts'
import { hrefOf } from '../state/route.ts'
import { Command, Empty, Heading, Trouble } from './parts.tsx'
import { fieldOf, SecretFields, secretsOf } from './secret-fields.tsx'
import { useFirstField, useModel } from './use-model.ts'

interface SecretsViewProps {
  readonly api: CloudApi
}

/** The secret sets, by name. */
export function SecretsView({ api }: SecretsViewProps): VNode {
  const sets = useModel(() => new Fetched(() => api.secretSets()), [api])
  const [making, setMaking] = useState(false)
  const list = sets.value.value
  return (
    <>
      <Heading title="Secrets">
        {!making && (
          <button type="button" class="button small go" data-testid="new-set" onClick={() => setMaking(true)}>
            <Icon name="add" />
            New set
          </button>
        )}
      </Heading>
      <Trouble text={sets.problem.value} />
      {making && <NewSet api={api} onClose={() => setMaking(false)} />}
      <div class="card" aria-busy={list === undefined}>
        {list === undefined && <p class="loading">Loading secrets…</p>}
        {list?.length === 0 && (
          <Empty title="There are no secrets yet">
            <p>A set holds the variables that your bots need. Make one here, or run:</p>
            <Command text="botcli secrets set my-bot --file .env" />
          </Empty>
        )}
        {list !== undefined && list.length > 0 && (
          <table class="table" data-testid="sets">
            <thead>
              <tr>
                <th scope="col">Set</th>
                <th scope="col">Kind</th>
                <th scope="col">Region</th>
              </tr>
            </thead>
            <tbody>
              {list.map(({ name, type, region }) => (
                <tr key={name}>
                  <td data-column="Set">
                    <a class="row-link" href={hrefOf({ name: 'secret-set', set: name })}>
                      {name}
                    </a>
                  </td>
                  <td data-column="Kind">{type === 'secret' ? 'Variables' : 'Image registry'}</td>
                  <td data-column="Region">{region}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
    </>
  )
}

interface NewSetProps extends SecretsViewProps {
  readonly onClose: () => void
}

function NewSet({ api, onClose }: NewSetProps): VNode {
  const regions = useModel(() => new Fetched(() => Promise.all([api.regions(), api.properties()])), [api])
  const [problem, setProblem] = useState<string>()
  const [busy, setBusy] = useState(false)
  const first = useFirstField()
  const [known = [], properties] = regions.value.value ?? []
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const name = fieldOf(form, 'name').trim()
    const region = fieldOf(form, 'region')
    setBusy(true)
    try {
      const there = (await api.secretSets()).some((set) => set.name === name)
      // Otherwise the values would be merged into that set, which is not what one expects of a new one.
      if (there) throw new Error(`There is a set ${name} already. Open it to add to it.`)
      await api.putSecrets(name, { secrets: secretsOf(form), ...(region !== '' && { region }) })
      location.hash = hrefOf({ name: 'secret-set', set: name })
    } catch (error) {
      setProblem(messageOf(error))
      setBusy(false)
    }
  }
  return (
    <form class="card form" data-testid="set-form" onSubmit={(event) => void submit(event)}>
      <h2>New set</h2>
      <div class="form-row">
        <label for="set-name">Name</label>
        <input
          id="set-name"
          ref={first}
          name="name"
          class="input"
          required
          minLength={3}
          maxLength={63}
          pattern="[a-z0-9](?:[a-z0-9\-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9\-]*[a-z0-9])?)*"
          title="3 to 63 lower case letters, digits, hyphens and dots, beginning and ending with a letter or digit"
          placeholder="my-bot"
          autocomplete="off"
          spellcheck={false}
        />
      </div>
      {known.length > 1 && (
        <div class="form-row">
          <label for="set-region">Region</label>
          <select id="set-region" name="region" value={properties?.defaultRegion}>
            {known.map(({ code, display_name }) => (
              <option key={code} value={code}>
                {display_name} ({code})
              </option>
            ))}
          </select>
        </div>
      )}
      <SecretFields />
      <Trouble text={problem} />
      <div class="form-tools">
        <button type="button" class="button small" onClick={onClose}>
          Never mind
        </button>
        <button type="submit" class="button small go" disabled={busy}>
          Make the set
        </button>
      </div>
    </form>
  )
}
