import type { VNode } from 'preact'
import { canChooseSpeaker, type Device } from '../media/devices.ts'
import { PAGE_TRANSPORTS, type PageTransport } from '../state/page-model.ts'
import type { PartProps } from './part.ts'

const LABELS: Readonly<Record<PageTransport, string>> = { webrtc: 'WebRTC', websocket: 'WebSocket' }

/** How to reach the bot, and with which devices. */
export function Setup({ model }: PartProps): VNode {
  const offered = model.transports.value
  return (
    <section class="card setup" aria-labelledby="setup-title">
      <h2 id="setup-title">Setup</h2>
      <div class="field">
        <label for="transport">Transport</label>
        <select
          id="transport"
          data-testid="transport"
          value={model.transport.value}
          disabled={model.busy.value || !model.canTalk.value}
          onChange={(event) => model.chooseTransport(event.currentTarget.value as PageTransport)}
        >
          {PAGE_TRANSPORTS.map((id) => (
            <option key={id} value={id} disabled={offered.length > 0 && !offered.includes(id)}>
              {LABELS[id]}
            </option>
          ))}
        </select>
      </div>
      <DeviceField
        id="microphone"
        label="Microphone"
        devices={model.devices.value.microphones}
        chosen={model.microphoneId.value}
        choose={(id) => void model.chooseMicrophone(id)}
      />
      {canChooseSpeaker() && (
        <DeviceField
          id="speaker"
          label="Speaker"
          devices={model.devices.value.speakers}
          chosen={model.speakerId.value}
          choose={(id) => model.chooseSpeaker(id)}
        />
      )}
    </section>
  )
}

interface DeviceFieldProps {
  readonly id: string
  readonly label: string
  readonly devices: readonly Device[]
  readonly chosen: string
  readonly choose: (id: string) => void
}

function DeviceField({ id, label, devices, chosen, choose }: DeviceFieldProps): VNode {
  // A device that was unplugged is no choice any more.
  const value = devices.some((device) => device.id === chosen) ? chosen : ''
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} data-testid={id} value={value} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">System default</option>
        {devices.map((device) => (
          <option key={device.id} value={device.id}>
            {device.label}
          </option>
        ))}
      </select>
    </div>
  )
}
