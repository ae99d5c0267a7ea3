import { RTVIEvent } from '@pipecat-ai/client-js'
import { usePipecatClientMicControl, useRTVIClientEvent } from '@pipecat-ai/client-react'
import { useCallback, useState } from 'react'

/** Mutes the microphone, and shows that it hears something. */
export function Microphone({ active }: { readonly active: boolean }) {
  const { enableMic, isMicEnabled } = usePipecatClientMicControl()
  const [level, setLevel] = useState(0)

  useRTVIClientEvent(
    RTVIEvent.LocalAudioLevel,
    useCallback((heard: number) => setLevel(heard), []),
  )

  const shown = active && isMicEnabled ? level : 0
  return (
    <div className="microphone">
      <button
        type="button"
        aria-pressed={!isMicEnabled}
        disabled={!active}
        onClick={() => enableMic(!isMicEnabled)}
      >
        {isMicEnabled ? 'Mute' : 'Unmute'}
      </button>
      <meter aria-label="Microphone level" min={0} max={1} value={shown} />
    </div>
  )
}
