import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium } from 'playwright-core'

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** The browser of this machine, if it has one. */
export const CHROMIUM = process.env.CHROMIUM_PATH ?? PLACES.find((path) => existsSync(path))

/** What the fake microphone hums. */
export const MICROPHONE_HERTZ = 440

/** A real browser with a fake microphone that hums in bursts. */
export class TestBrowser {
  readonly #browser: Browser
  readonly #folder: string

  private constructor(browser: Browser, folder: string) {
    this.#browser = browser
    this.#folder = folder
  }

  static async launch(): Promise<TestBrowser> {
    const folder = await mkdtemp(join(tmpdir(), 'botcli-browser-'))
    const sound = join(folder, 'microphone.wav')
    await writeFile(sound, hum())
    const browser = await chromium.launch({
      executablePath: CHROMIUM ?? '',
      args: [
        '--no-sandbox',
        '--use-fake-ui-for-media-stream',
        '--use-fake-device-for-media-stream',
        `--use-file-for-fake-audio-capture=${sound}`,
        '--autoplay-policy=no-user-gesture-required',
        // Two peers on one machine: plain addresses instead of names that nobody here resolves.
        '--disable-features=WebRtcHideLocalIpsWithMdns',
      ],
    })
    return new TestBrowser(browser, folder)
  }

  /** A fresh profile whose pages remember what they played. */
  async context(): Promise<BrowserContext> {
    const context = await this.#browser.newContext()
    await context.addInitScript(installEar)
    return context
  }

  async close(): Promise<void> {
    await this.#browser.close()
    await rm(this.#folder, { recursive: true, force: true })
  }
}

/** Runs inside the page: taps whatever the page plays, and tells its loudest frequency. */
function installEar(): void {
  const analysers: AnalyserNode[] = []
  const connect = AudioNode.prototype.connect as (...args: unknown[]) => unknown
  const listen = (node: AudioNode) => {
    const analyser = new AnalyserNode(node.context, { fftSize: 8192 })
    connect.call(node, analyser)
    analysers.push(analyser)
  }
  Object.assign(AudioNode.prototype, {
    connect(this: AudioNode, ...args: unknown[]) {
      if (args[0] instanceof AudioDestinationNode) listen(this)
      return connect.apply(this, args)
    },
  })
  const property = Object.getOwnPropertyDescriptor(HTMLMediaElement.prototype, 'srcObject')
  Object.defineProperty(HTMLMediaElement.prototype, 'srcObject', {
    configurable: true,
    get() {
      return property?.get?.call(this)
    },
    set(stream: MediaStream | null) {
      property?.set?.call(this, stream)
      if (stream instanceof MediaStream && stream.getAudioTracks().length > 0) {
        const context = new AudioContext()
        listen(new MediaStreamAudioSourceNode(context, { mediaStream: stream }))
      }
    },
  })
  Object.assign(globalThis, {
    heardHertz(): number | undefined {
      let best = { level: -55, hertz: undefined as number | undefined }
      for (const analyser of analysers) {
        const bins = new Float32Array(analyser.frequencyBinCount)
        analyser.getFloatFrequencyData(bins)
        for (const [index, level] of bins.entries()) {
          if (level <= best.level) continue
          best = { level, hertz: (index * analyser.context.sampleRate) / analyser.fftSize }
        }
      }
      return best.hertz
    },
  })
}

/** Half a second of sound, half a second of silence, as a WAV file. */
function hum(): Buffer {
  const rate = 48_000
  const samples = Int16Array.from({ length: rate }, (_, index) =>
    index < rate / 2 ? Math.round(12_000 * Math.sin((2 * Math.PI * MICROPHONE_HERTZ * index) / rate)) : 0,
  )
  const header = Buffer.alloc(44)
  header.write('RIFF', 0)
  header.writeUInt32LE(36 + samples.byteLength, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(rate, 24)
  header.writeUInt32LE(rate * 2, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36)
  header.writeUInt32LE(samples.byteLength, 40)
  return Buffer.concat([header, Buffer.from(samples.buffer)])
}
