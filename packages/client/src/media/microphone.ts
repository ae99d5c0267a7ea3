import captureUrl from './capture.worklet.ts?worker&url'
import { LevelMeter } from './level.ts'

/** The rate at which the WebSocket transport says what the microphone heard. */
export const CAPTURE_RATE = 16_000
const CHUNK_SAMPLES = CAPTURE_RATE / 50

/** How many copies of the track may be with peer connections at once. */
const TRACKS_LENT = 8

interface Graph {
  readonly context: AudioContext
  readonly source: MediaStreamAudioSourceNode
  readonly meter: LevelMeter
}

/** One opened microphone: its track, its level, and its sound in chunks. */
export class Microphone {
  readonly #stream: MediaStream
  readonly #track: MediaStreamTrack
  readonly #graph: Graph
  #lent: readonly MediaStreamTrack[] = []
  #enabled = true

  private constructor(stream: MediaStream, track: MediaStreamTrack) {
    this.#stream = stream
    this.#track = track
    this.#graph = meteredGraph(stream)
  }

  /** Asks the browser for a microphone; an empty id means the one that the system prefers. */
  static async open(deviceId: string): Promise<Microphone> {
    if (navigator.mediaDevices === undefined) {
      throw new DOMException('This page is not in a secure context.', 'InsecureContextError')
    }
    const audio: MediaTrackConstraints = {
      echoCancellation: true,
      noiseSuppression: true,
      autoGainControl: true,
      ...(deviceId === '' ? {} : { deviceId: { exact: deviceId } }),
    }
    const stream = await navigator.mediaDevices.getUserMedia({ audio })
    const [track] = stream.getAudioTracks()
    if (track === undefined) throw new DOMException('The browser gave no audio track.', 'NotFoundError')
    return new Microphone(stream, track)
  }

  get deviceId(): string {
    return this.#track.getSettings().deviceId ?? ''
  }

  get label(): string {
    return this.#track.label
  }

  /** How loud it is at the microphone, from 0 to 1. */
  get level(): number {
    return this.#graph.meter.read()
  }

  /**
   * A copy of the track for a peer connection. It has to be a copy: the WebRTC transport stops the track of an old
   * connection after it has given the same one to the new connection.
   */
  lendTrack(): MediaStreamTrack {
    const copy = this.#track.clone()
    copy.enabled = this.#enabled
    const all = [...this.#lent, copy]
    for (const old of all.slice(0, -TRACKS_LENT)) old.stop()
    this.#lent = all.slice(-TRACKS_LENT)
    return copy
  }

  /** Hands on what the microphone hears, 20 ms at a time, until it is closed. */
  async capture(onChunk: (chunk: ArrayBuffer) => void): Promise<void> {
    const { context, source, meter } = this.#graph
    await context.audioWorklet.addModule(captureUrl)
    const processorOptions = { rate: CAPTURE_RATE, chunkSamples: CHUNK_SAMPLES }
    const node = new AudioWorkletNode(context, 'capture', { outputChannelCount: [1], processorOptions })
    // A muted microphone sends silence, so that the bot hears the end of a sentence cut short.
    node.port.onmessage = (event: MessageEvent<ArrayBuffer>) => onChunk(event.data)
    // A worklet runs only where something pulls its output, so the meter sits behind it.
    source.disconnect()
    source.connect(node).connect(meter.node)
  }

  setEnabled(enabled: boolean): void {
    this.#enabled = enabled
    for (const track of [this.#track, ...this.#lent]) track.enabled = enabled
  }

  /** Lets go of the device, so that the browser's recording mark goes out. */
  close(): void {
    this.#enabled = false
    for (const track of [...this.#stream.getTracks(), ...this.#lent]) track.stop()
    this.#lent = []
    if (this.#graph.context.state !== 'closed') void this.#graph.context.close()
  }
}

/** Some browsers cannot bring a microphone into a graph of another rate; there the chunker converts instead. */
function meteredGraph(stream: MediaStream): Graph {
  const wanted = new AudioContext({ sampleRate: CAPTURE_RATE, latencyHint: 'interactive' })
  try {
    return graphIn(wanted, stream)
  } catch {
    void wanted.close()
    return graphIn(new AudioContext({ latencyHint: 'interactive' }), stream)
  }
}

function graphIn(context: AudioContext, stream: MediaStream): Graph {
  const source = context.createMediaStreamSource(stream)
  const meter = new LevelMeter(context)
  source.connect(meter.node)
  return { context, source, meter }
}
