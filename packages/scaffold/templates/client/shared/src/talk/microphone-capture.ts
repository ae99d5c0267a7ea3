import { MICROPHONE_RATE, type MicrophoneGraph } from './local-media'

/** Runs in the browser's audio thread, so it is handed over as text: 16-bit samples, 20 ms at a time. */
const WORKLET = `
class Capture extends AudioWorkletProcessor {
  chunk = new Int16Array(${MICROPHONE_RATE / 50})
  filled = 0
  sum = 0
  weight = 0

  process(inputs) {
    const step = sampleRate / ${MICROPHONE_RATE}
    for (const sample of inputs[0][0] ?? new Float32Array(128)) {
      let left = 1
      // Each sample that is sent is the mean of those that it covers.
      while (left > 1e-9) {
        const part = Math.min(left, step - this.weight)
        this.sum += sample * part
        this.weight += part
        left -= part
        if (step - this.weight > 1e-9) continue
        this.put(this.sum / step)
        this.sum = 0
        this.weight = 0
      }
    }
    return true
  }

  put(value) {
    this.chunk[this.filled] = Math.max(-1, Math.min(1, value)) * 0x7fff
    this.filled += 1
    if (this.filled < this.chunk.length) return
    this.filled = 0
    const { buffer } = this.chunk.slice()
    this.port.postMessage(buffer, [buffer])
  }
}
registerProcessor('capture', Capture)
`

/** Hands on what a microphone hears until its audio context is closed. A muted one gives silence. */
export async function captureMicrophone(
  { context, source }: MicrophoneGraph,
  onChunk: (chunk: ArrayBuffer) => void,
): Promise<void> {
  const url = URL.createObjectURL(new Blob([WORKLET], { type: 'text/javascript' }))
  try {
    await context.audioWorklet.addModule(url)
  } finally {
    URL.revokeObjectURL(url)
  }
  const node = new AudioWorkletNode(context, 'capture', { numberOfOutputs: 1 })
  node.port.onmessage = (event: MessageEvent<ArrayBuffer>) => onChunk(event.data)
  // A worklet runs only where something takes its output, which is silence.
  source.connect(node).connect(context.destination)
}
