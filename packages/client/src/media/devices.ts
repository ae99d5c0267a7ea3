/** A microphone or a loudspeaker that can be chosen. */
export interface Device {
  readonly id: string
  readonly label: string
}

/** The devices that the browser tells of. */
export interface Devices {
  readonly microphones: readonly Device[]
  readonly speakers: readonly Device[]
}

/** A page that knows of no device. */
export const NO_DEVICES: Devices = { microphones: [], speakers: [] }

/** What a list of devices needs to know of each. */
type Listed = Pick<MediaDeviceInfo, 'deviceId' | 'kind' | 'label'>

/**
 * Sorts the browser's list. Before the microphone is allowed, browsers give neither ids nor names: such entries
 * cannot be chosen and are left out. So is the alias `default`, because "the system's choice" is always offered.
 */
export function devicesOf(listed: readonly Listed[]): Devices {
  const ofKind = (kind: MediaDeviceKind): readonly Device[] =>
    listed
      .filter((device) => device.kind === kind && device.deviceId !== '' && device.deviceId !== 'default')
      .map((device, index) => ({ id: device.deviceId, label: device.label || `Device ${index + 1}` }))
  return { microphones: ofKind('audioinput'), speakers: ofKind('audiooutput') }
}

/** Whether this browser can play on a loudspeaker of the page's choice. */
export function canChooseSpeaker(): boolean {
  return 'setSinkId' in HTMLMediaElement.prototype
}

/** Keeps telling the devices, now and whenever one comes or goes, until the returned function is called. */
export function watchDevices(tell: (devices: Devices) => void): () => void {
  const media = navigator.mediaDevices as MediaDevices | undefined
  if (media === undefined) return () => {}
  const update = (): void => {
    media.enumerateDevices().then(
      (listed) => tell(devicesOf(listed)),
      () => tell(NO_DEVICES),
    )
  }
  media.addEventListener('devicechange', update)
  update()
  return () => media.removeEventListener('devicechange', update)
}

/** Asks once for the devices, which have names as soon as the microphone was allowed. */
export async function currentDevices(): Promise<Devices> {
  const media = navigator.mediaDevices as MediaDevices | undefined
  return media === undefined ? NO_DEVICES : devicesOf(await media.enumerateDevices())
}
