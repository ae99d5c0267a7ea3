import type { AgentDetails } from '@botcli/protocol/cloud'
import type { TargetedSubmitEvent, VNode } from 'preact'
import { useState } from 'preact/hooks'
import { messageOf } from '../api/api-error.ts'
import type { AgentModel } from '../state/agent-model.ts'
import { Trouble } from './parts.tsx'
import { fieldOf } from './secret-fields.tsx'

const MOST = 1_000

interface ScalingFormProps {
  readonly model: AgentModel
  readonly agent: AgentDetails
}

/** How many instances there are always, and at most. */
export function ScalingForm({ model, agent }: ScalingFormProps): VNode {
  const { minReplicas, maxReplicas } = agent.autoScaling
  const [problem, setProblem] = useState<string>()
  const [busy, setBusy] = useState(false)
  const [changed, setChanged] = useState(false)
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const min = Number(fieldOf(form, 'min'))
    const max = Number(fieldOf(form, 'max'))
    if (min > max) {
      setProblem('There cannot be more instances always than at most.')
      return
    }
    setBusy(true)
    try {
      await model.scale(min, max)
      setProblem(undefined)
      setChanged(false)
    } catch (error) {
      setProblem(messageOf(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <form
      class="card form scaling"
      data-testid="scaling"
      onSubmit={(event) => void submit(event)}
      onInput={() => setChanged(true)}
    >
      <h2>Scaling</h2>
      <div class="scaling-fields">
        <label for="scale-min">Always</label>
        <input
          id="scale-min"
          name="min"
          class="input"
          type="number"
          required
          min={0}
          max={MOST}
          step={1}
          defaultValue={String(minReplicas)}
        />
        <label for="scale-max">At most</label>
        <input
          id="scale-max"
          name="max"
          class="input"
          type="number"
          required
          min={1}
          max={MOST}
          step={1}
          defaultValue={String(maxReplicas)}
        />
        <button type="submit" class="button small" disabled={busy || !changed}>
          {busy ? 'Saving…' : 'Save'}
        </button>
      </div>
      <p class="hint">
        Instances that run always answer at once; others are started when they are needed, up to the most.
      </p>
      {agent.warning !== undefined && <p class="hint">{agent.warning}</p>}
      <Trouble text={problem} />
    </form>
  )
}
