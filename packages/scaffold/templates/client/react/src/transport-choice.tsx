import type { BotTransport } from './talk/bot-transport'
import { TRANSPORTS } from './talk/transports'

interface Props {
  readonly transport: BotTransport
  readonly disabled: boolean
  readonly onTransport: (transport: BotTransport) => void
}

/** Chooses the way to the bot. */
export function TransportChoice({ transport, disabled, onTransport }: Props) {
  return (
    <label className="choice">
      <span>Transport</span>
      <select
        value={transport.id}
        disabled={disabled}
        onChange={(event) => {
          const chosen = TRANSPORTS.find(({ id }) => id === event.target.value)
          if (chosen !== undefined) onTransport(chosen)
        }}
      >
        {TRANSPORTS.map(({ id, label }) => (
          <option key={id} value={id}>
            {label}
          </option>
        ))}
      </select>
    </label>
  )
}
