import { type Line, lineText } from './talk/conversation'
import { PHASES, type Phase } from './talk/phase'
import type { Problem } from './talk/problem'
import { TRANSPORTS } from './talk/transports'

/** What a person can do on the page. */
export interface Actions {
  connect(): void
  disconnect(): void
  mute(): void
  type(text: string): void
  // #if camera
  turnCamera(): void
  // #end
}

/** The elements of index.html. */
export class View {
  readonly #status = element('status', HTMLParagraphElement)
  readonly #connect = element('connect', HTMLButtonElement)
  readonly #problem = element('problem', HTMLDivElement)
  readonly #hint = element('hint', HTMLParagraphElement)
  readonly #lines = element('lines', HTMLOListElement)
  readonly #mute = element('mute', HTMLButtonElement)
  readonly #level = element('level', HTMLMeterElement)
  readonly #text = element('text', HTMLInputElement)
  readonly #send = element('send', HTMLButtonElement)
  readonly #botAudio = element('bot-audio', HTMLAudioElement)
  readonly #choice = element('choice', HTMLLabelElement)
  readonly #transport = element('transport', HTMLSelectElement)
  // #if video
  readonly #videos = element('videos', HTMLElement)
  // #end
  // #if botVideo
  readonly #botVideo = element('bot-video', HTMLVideoElement)
  // #end
  // #if camera
  readonly #camera = element('camera', HTMLVideoElement)
  readonly #cameraOff = element('camera-off', HTMLButtonElement)
  // #end
  #phase: Phase = 'idle'
  #missing: readonly string[] = []

  constructor(actions: Actions) {
    this.#transport.replaceChildren(...TRANSPORTS.map(({ id, label }) => new Option(label, id)))
    this.#choice.hidden = TRANSPORTS.length < 2
    this.#connect.addEventListener('click', () => {
      if (this.#phase === 'idle') actions.connect()
      else actions.disconnect()
    })
    this.#mute.addEventListener('click', () => actions.mute())
    // #if camera
    this.#cameraOff.addEventListener('click', () => actions.turnCamera())
    this.#transport.addEventListener('change', () => this.#showDevices())
    this.#showDevices()
    // #end
    this.#text.addEventListener('input', () => this.#showSend())
    element('typed', HTMLFormElement).addEventListener('submit', (event) => {
      event.preventDefault()
      const text = this.#text.value.trim()
      if (this.#phase !== 'ready' || text === '') return
      actions.type(text)
      this.#text.value = ''
      this.#showSend()
    })
  }

  get phase(): Phase {
    return this.#phase
  }

  /** The transport that was chosen. */
  get transport(): string {
    return this.#transport.value
  }

  showPhase(phase: Phase): void {
    this.#phase = phase
    const { status, button, hint } = PHASES[phase]
    const idle = phase === 'idle'
    this.#status.textContent = status
    this.#status.dataset.phase = phase
    this.#connect.textContent = button
    this.#connect.className = idle ? 'primary' : 'danger'
    this.#hint.textContent = hint
    if (phase === 'connecting') this.#missing = []
    if (idle) this.#fallSilent()
    this.#transport.disabled = !idle
    this.#showDevices()
    this.#showSend()
    // #if video
    this.#videos.hidden = idle || !this.#carriesVideo
    // #end
  }

  /** Devices that cannot be used: `mic`, `cam`. */
  showMissing(devices: readonly string[]): void {
    this.#missing = [...this.#missing, ...devices]
    this.#showDevices()
  }

  showProblem(problem: Problem | undefined): void {
    this.#problem.hidden = problem === undefined
    const title = document.createElement('strong')
    title.textContent = problem?.title ?? ''
    this.#problem.replaceChildren(title, ` ${problem?.detail ?? ''}`)
  }

  showMicrophone(on: boolean): void {
    this.#mute.textContent = on ? 'Mute' : 'Unmute'
  }

  // #if camera
  showCamera(on: boolean): void {
    this.#cameraOff.textContent = on ? 'Camera off' : 'Camera on'
  }

  // #end

  showLevel(level: number): void {
    this.#level.value = level
  }

  /** Lines that are there already are changed in place, so that only news are read out. */
  showLines(lines: readonly Line[]): void {
    this.#hint.hidden = lines.length > 0
    const items = new Map([...this.#lines.children].map((item) => [item.id, item]))
    for (const line of lines) {
      const id = `line-${line.id}`
      const item = items.get(id) ?? this.#lines.appendChild(lineItem(id, line.who))
      items.delete(id)
      const text = item.querySelector('.text')
      if (text !== null && text.textContent !== lineText(line)) text.textContent = lineText(line)
    }
    for (const gone of items.values()) gone.remove()
  }

  /** Plays a track in the one element that is there for it. */
  play(track: MediaStreamTrack, local: boolean): void {
    if (track.kind === 'audio') {
      if (!local) this.#botAudio.srcObject = new MediaStream([track])
      return
    }
    // #if camera
    if (local) this.#camera.srcObject = new MediaStream([track])
    // #end
    // #if botVideo
    if (!local) this.#botVideo.srcObject = new MediaStream([track])
    // #end
  }

  // #if video
  get #carriesVideo(): boolean {
    return TRANSPORTS.some(({ id, video }) => video && id === this.transport)
  }

  // #end
  #showDevices(): void {
    const usable = (device: string) => this.#phase === 'ready' && !this.#missing.includes(device)
    this.#mute.disabled = !usable('mic')
    // #if camera
    this.#cameraOff.disabled = !usable('cam')
    this.#cameraOff.hidden = !this.#carriesVideo
    // #end
  }

  #fallSilent(): void {
    this.#level.value = 0
    this.showMicrophone(true)
    // #if camera
    this.showCamera(true)
    // #end
    this.#botAudio.srcObject = null
    // #if botVideo
    this.#botVideo.srcObject = null
    // #end
    // #if camera
    this.#camera.srcObject = null
    // #end
  }

  #showSend(): void {
    this.#send.disabled = this.#phase !== 'ready' || this.#text.value.trim() === ''
  }
}

function lineItem(id: string, who: Line['who']): HTMLLIElement {
  const item = document.createElement('li')
  item.id = id
  item.className = `line ${who}`
  const name = document.createElement('span')
  name.className = 'who'
  name.textContent = who === 'user' ? 'You' : 'Bot'
  const text = document.createElement('span')
  text.className = 'text'
  item.append(name, text)
  return item
}

function element<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const found = document.getElementById(id)
  if (!(found instanceof kind)) throw new Error(`index.html has no fitting element with the id "${id}".`)
  return found
}
