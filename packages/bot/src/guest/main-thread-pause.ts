import { type Debugger, Session } from 'node:inspector'
import { placeOf, type ScriptFacts } from './user-place.ts'

/** Stops the main thread for a moment to see where it is. Works while its loop is blocked; needs a worker thread to run in. */
export class MainThreadPause {
  readonly #session = new Session()
  readonly #scripts = new Map<string, ScriptFacts>()
  readonly #place: Promise<string | undefined>

  constructor(ownUrl: string) {
    this.#place = new Promise((resolve) => {
      this.#session.on('Debugger.scriptParsed', ({ params }) => {
        this.#scripts.set(params.scriptId, { url: params.url, mapUrl: params.sourceMapURL ?? '' })
      })
      this.#session.on('Debugger.paused', ({ params }) => {
        this.#session.post('Debugger.resume')
        resolve(this.#find(params.callFrames, ownUrl))
        this.close()
      })
      try {
        this.#session.connectToMainThread()
        this.#session.post('Debugger.enable')
        this.#session.post('Debugger.pause')
      } catch {
        // This Node was built without an inspector, or somebody else holds it. The report does without a place.
        resolve(undefined)
      }
    })
  }

  /** The user's file and line, if the main thread says so in time. */
  place(limitMs: number): Promise<string | undefined> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(undefined), limitMs)
      void this.#place.then((place) => {
        clearTimeout(timer)
        resolve(place)
      })
    })
  }

  /** Lets go of the main thread. Safe to call twice. */
  close(): void {
    this.#session.disconnect()
  }

  #find(frames: readonly Debugger.CallFrame[], ownUrl: string): string | undefined {
    for (const { location } of frames) {
      const script = this.#scripts.get(location.scriptId)
      const place = script && placeOf(script, location.lineNumber, location.columnNumber ?? 0, ownUrl)
      if (place !== undefined) return place
    }
    return undefined
  }
}
