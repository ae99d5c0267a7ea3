import { RTVIEvent } from '@pipecat-ai/client-js'
import { usePipecatClientMicControl, useRTVIClientEvent } from '@pipecat-ai/client-react'
import { useCallback, useState } from 'react'

interface Props {
  readonly active: boolean
  readonly missing: boolean
}

/** Mutes the microphone, and shows that it hears something. */
export function Microphone({ active, missing }: Props) {
  const { enableMic, isMicEnabled } = usePipecatClientMicControl()
  const [level, setLevel] = useState(0)

  useRTVIClientEvent(
    RTVIEvent.LocalAudioLevel,
    useCallback((heard: number) => setLevel(heard), []),
  )

  const usable = active && !missing
  return (
    <>
      <button type="button" disabled={!usable} onClick={() => enableMic(!isMicEnabled)}>
        {usable && !isMicEnabled ? 'Unmute' : 'Mute'}
      </button>
      <meter aria-label="Microphone level" min={0} max={1} value={usable && isMicEnabled ? level : 0} />
    </>
  )
}
