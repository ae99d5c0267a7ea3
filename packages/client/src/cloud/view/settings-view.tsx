import type { TargetedEvent, VNode } from 'preact'
import { useState } from 'preact/hooks'
import { messageOf } from '../api/api-error.ts'
import type { CloudApi } from '../api/cloud-api.ts'
import { Fetched } from '../state/fetched.ts'
import { Heading, Trouble } from './parts.tsx'
import { useModel } from './use-model.ts'

interface SettingsViewProps {
  readonly api: CloudApi
}

/** Regions, and the settings of the organization. */
export function SettingsView({ api }: SettingsViewProps): VNode {
  const settings = useModel(() => new Fetched(() => Promise.all([api.regions(), api.properties()])), [api])
  const [problem, setProblem] = useState<string>()
  const [saved, setSaved] = useState(false)
  const [regions, properties] = settings.value.value ?? []
  const choose = async (event: TargetedEvent<HTMLSelectElement>): Promise<void> => {
    setSaved(false)
    try {
      await api.setDefaultRegion(event.currentTarget.value)
      setProblem(undefined)
      setSaved(true)
    } catch (error) {
      setProblem(messageOf(error))
    }
    await settings.load()
  }
  return (
    <>
      <Heading title="Settings" />
      <Trouble text={settings.problem.value ?? problem} />
      {regions !== undefined && properties !== undefined && (
        <>
          <div class="card form">
            <h2>Organization</h2>
            <div class="form-row">
              <label for="default-region">Default region</label>
              <select
                id="default-region"
                value={properties.defaultRegion}
                aria-describedby="default-region-hint"
                onChange={(event) => void choose(event)}
              >
                {regions.map(({ code, display_name }) => (
                  <option key={code} value={code}>
                    {display_name} ({code})
                  </option>
                ))}
              </select>
            </div>
            <p class="hint" id="default-region-hint">
              What is made without naming a region is made there.{' '}
              <span role="status">{saved && 'Saved.'}</span>
            </p>
          </div>
          <div class="card">
            <table class="table" data-testid="regions">
              <thead>
                <tr>
                  <th scope="col">Region</th>
                  <th scope="col">Code</th>
                </tr>
              </thead>
              <tbody>
                {regions.map(({ code, display_name }) => (
                  <tr key={code}>
                    <td data-column="Region">
                      {display_name}
                      {code === properties.defaultRegion && <span class="tag">default</span>}
                    </td>
                    <td data-column="Code">
                      <code>{code}</code>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <p class="hint">Regions are set by whoever runs the cloud, in cloud.json of its data folder.</p>
        </>
      )}
    </>
  )
}
