import { usePipecatClientCamControl } from '@pipecat-ai/client-react'

interface Props {
  readonly active: boolean
  readonly missing: boolean
}

/** Turns the camera off and on. */
export function Camera({ active, missing }: Props) {
  const { enableCam, isCamEnabled } = usePipecatClientCamControl()
  const usable = active && !missing
  return (
    <button type="button" disabled={!usable} onClick={() => enableCam(!isCamEnabled)}>
      {usable && !isCamEnabled ? 'Camera on' : 'Camera off'}
    </button>
  )
}
