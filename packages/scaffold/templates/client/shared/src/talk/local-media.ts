import {
  DeviceError,
  type DeviceErrorType,
  type PipecatClientOptions,
  type RTVIEventCallbacks,
  type Tracks,
} from '@pipecat-ai/client-js'

/** The rate at which the microphone is listened to. */
export const MICROPHONE_RATE = 16_000

const LEVEL_INTERVAL_MS = 100
const ME = { id: 'local', name: 'You', local: true }

type Device = 'mic' | 'cam'

/** A microphone in an audio graph. */
export interface MicrophoneGraph {
  readonly context: AudioContext
  readonly source: MediaStreamAudioSourceNode
}

/**
 * The microphone and the camera, in the shape that the published transports ask for. Their own media managers load
 * code from the network, or fail without a microphone and keep it open afterwards.
 */
export class LocalMedia {
  #callbacks: RTVIEventCallbacks = {}
  #micWanted = true
  #camWanted = false
  #opening: Promise<void> | undefined
  readonly #closed = new AbortController()
  #audio: MediaStreamTrack | undefined
  #video: MediaStreamTrack | undefined
  #graph: MicrophoneGraph | undefined

  /** The published class has protected members, so nothing but itself is one for the compiler. */
  asMediaManager(): never {
    return this as never
  }

  setClientOptions(options: PipecatClientOptions): void {
    this.#callbacks = options.callbacks ?? {}
    this.#micWanted = options.enableMic ?? true
    this.#camWanted = options.enableCam ?? false
  }

  /** Opens the devices; the browser may ask for permission. */
  initialize(): Promise<void> {
    this.#opening ??= this.#open(this.#closed.signal)
    return this.#opening
  }

  get closed(): boolean {
    return this.#closed.signal.aborted
  }

  /** There while the microphone is open. */
  get graph(): MicrophoneGraph | undefined {
    return this.#graph
  }

  async connect(): Promise<void> {
    await this.initialize()
  }

  async disconnect(): Promise<void> {
    this.close()
  }

  /** Frees all devices for good. */
  close(): void {
    this.#closed.abort()
    for (const track of [this.#audio, this.#video]) {
      if (track !== undefined) stop(track)
    }
    this.#audio = undefined
    this.#video = undefined
    void this.#graph?.context.close()
    this.#graph = undefined
  }

  enableMic(enable: boolean): void {
    this.#micWanted = enable
    if (this.#audio !== undefined) this.#audio.enabled = enable
  }

  enableCam(enable: boolean): void {
    this.#camWanted = enable
    if (this.#video !== undefined) this.#video.enabled = enable
  }

  enableScreenShare(): void {}

  get isMicEnabled(): boolean {
    return this.#micWanted && this.#audio !== undefined
  }

  get isCamEnabled(): boolean {
    return this.#camWanted && this.#video !== undefined
  }

  get isSharingScreen(): boolean {
    return false
  }

  get supportsScreenShare(): boolean {
    return false
  }

  tracks(): Tracks {
    return {
      local: {
        ...(this.#audio === undefined ? {} : { audio: this.#audio }),
        ...(this.#video === undefined ? {} : { video: this.#video }),
      },
    }
  }

  getAllMics = () => devices('audioinput')
  getAllCams = () => devices('videoinput')
  getAllSpeakers = () => devices('audiooutput')

  // The devices that the system prefers are used.
  updateMic(): void {}
  updateCam(): void {}
  updateSpeaker(): void {}
  readonly selectedMic = {}
  readonly selectedCam = {}
  readonly selectedSpeaker = {}

  async #open(closed: AbortSignal): Promise<void> {
    if (closed.aborted) return
    const tracks = await this.#tracks(this.#camWanted ? ['mic', 'cam'] : ['mic'])
    if (closed.aborted) {
      for (const track of tracks) stop(track)
      return
    }
    for (const track of tracks) {
      // Transports stop the track of a connection that they replace, though the next one uses it, too.
      track.stop = () => {}
    }
    this.#audio = tracks.find(({ kind }) => kind === 'audio')
    this.#video = tracks.find(({ kind }) => kind === 'video')
    if (this.#audio !== undefined) {
      this.#audio.enabled = this.#micWanted
      this.#listen(this.#audio, closed)
    }
    for (const track of tracks) this.#callbacks.onTrackStarted?.(track, ME)
  }

  /** All devices at once, so that people are asked once; if that fails, whichever there are. */
  async #tracks(devices: readonly Device[]): Promise<readonly MediaStreamTrack[]> {
    const refused = new Map<DeviceErrorType, Device[]>()
    const one = (device: Device) =>
      tracksOf([device]).catch((error: unknown) => {
        const type = errorType(error)
        refused.set(type, [...(refused.get(type) ?? []), device])
        return []
      })
    const each = async () => (await Promise.all(devices.map(one))).flat()
    const tracks = await (devices.length === 1 ? each() : tracksOf(devices).catch(each))
    for (const [type, names] of refused) this.#callbacks.onDeviceError?.(new DeviceError(names, type))
    return tracks
  }

  /** Tells how loud it is at the microphone, until the devices are closed. */
  #listen(track: MediaStreamTrack, closed: AbortSignal): void {
    this.#graph = graphOf(new MediaStream([track]))
    const meter = new AnalyserNode(this.#graph.context, { fftSize: 1024 })
    const samples = new Float32Array(meter.fftSize)
    this.#graph.source.connect(meter)
    const timer = setInterval(() => {
      meter.getFloatTimeDomainData(samples)
      this.#callbacks.onLocalAudioLevel?.(levelOf(samples))
    }, LEVEL_INTERVAL_MS)
    closed.addEventListener('abort', () => clearInterval(timer), { once: true })
  }
}

/** Some browsers bring a microphone only into a graph of its own rate. */
function graphOf(stream: MediaStream): MicrophoneGraph {
  const context = new AudioContext({ sampleRate: MICROPHONE_RATE })
  try {
    return { context, source: context.createMediaStreamSource(stream) }
  } catch {
    void context.close()
    const own = new AudioContext()
    return { context: own, source: own.createMediaStreamSource(stream) }
  }
}

/** From 0, which is a silent room, to 1. */
function levelOf(samples: Float32Array): number {
  const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length
  return Math.max(0, Math.min(1, (10 * Math.log10(power + 1e-10) + 58) / 50))
}

async function tracksOf(devices: readonly Device[]): Promise<readonly MediaStreamTrack[]> {
  const stream = await navigator.mediaDevices.getUserMedia({
    audio: devices.includes('mic') && { echoCancellation: true, noiseSuppression: true },
    video: devices.includes('cam'),
  })
  return stream.getTracks()
}

function stop(track: MediaStreamTrack): void {
  MediaStreamTrack.prototype.stop.call(track)
}

async function devices(kind: MediaDeviceKind): Promise<MediaDeviceInfo[]> {
  const all = await navigator.mediaDevices.enumerateDevices()
  return all.filter((device) => device.kind === kind)
}

function errorType(error: unknown): DeviceErrorType {
  if (navigator.mediaDevices === undefined) return 'undefined-mediadevices'
  const types: Partial<Record<string, DeviceErrorType>> = {
    NotAllowedError: 'permissions',
    NotFoundError: 'not-found',
    NotReadableError: 'in-use',
    OverconstrainedError: 'constraints',
  }
  return (error instanceof DOMException ? types[error.name] : undefined) ?? 'unknown'
}
