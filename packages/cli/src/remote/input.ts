import { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { Io } from '../io.ts'
import { UsageError } from '../usage-error.ts'
import type { Desk } from './desk.ts'

const MAX_INPUT = 16 * 1024 * 1024
/** Takes the last sign off the screen. */
const ERASE = '\b \b'

/** Everything that comes in by stdin. */
export async function readInput({ stdin }: Io, signal: AbortSignal): Promise<string> {
  const input: unknown = stdin
  if (!(input instanceof Readable)) throw new UsageError(['Nothing comes in by stdin.'])
  const stop = () => input.destroy(new Error('interrupted'))
  signal.addEventListener('abort', stop)
  try {
    const parts: Buffer[] = []
    let length = 0
    for await (const part of input) {
      const bytes = Buffer.from(part)
      length += bytes.length
      if (length > MAX_INPUT) throw new UsageError(['More comes in by stdin than can be meant.'])
      parts.push(bytes)
    }
    return Buffer.concat(parts).toString('utf8')
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** Whether somebody is there to ask. */
export function canAsk({ stdin, stderr, env }: Io): boolean {
  return (
    stdin?.isTTY === true && stderr.isTTY === true && env.TERM !== 'dumb' && stdin.setRawMode !== undefined
  )
}

/** Asks for a line that does not show on the terminal; throws when the asked one leaves. */
export function obtainHidden(what: string, desk: Desk): Promise<string> {
  return obtain(what, desk, { isShown: false })
}

/** Asks for a line; throws when the asked one leaves. */
export function obtainLine(what: string, desk: Desk): Promise<string> {
  return obtain(what, desk, { isShown: true })
}

interface Manner {
  /** Whether what is typed shows on the terminal. */
  readonly isShown: boolean
}

async function obtain(what: string, desk: Desk, manner: Manner): Promise<string> {
  const { io, signal, interrupt } = desk
  const onInterrupt = () => interrupt.press('SIGINT')
  const typed = await ask(what, io, { ...manner, signal, onInterrupt })
  signal.throwIfAborted()
  if (typed === undefined) throw new UsageError([`Nothing was given: ${what}.`])
  return typed
}

/** Asks for a line, key by key. Nothing is given when the asked one leaves. */
async function ask(
  question: string,
  { stdin, stderr }: Io,
  { isShown, signal, onInterrupt }: Manner & { readonly signal: AbortSignal; onInterrupt(): void },
): Promise<string | undefined> {
  if (stdin === undefined) return undefined
  const decoder = new StringDecoder('utf8')
  let line: string[] = []
  const show = (text: string) => isShown && stderr.write(text)
  // Before the question: what is typed at once would show otherwise.
  stdin.setRawMode?.(true)
  let onKeys: (keys: Uint8Array | string) => void = () => {}
  let onAbort = () => {}
  try {
    return await new Promise<string | undefined>((resolve) => {
      onAbort = () => resolve(undefined)
      onKeys = (keys) => {
        const text = typeof keys === 'string' ? keys : decoder.write(Buffer.from(keys))
        for (const sign of withoutSequences(text)) {
          if (sign === '\r' || sign === '\n') return resolve(line.join(''))
          if (sign === '\u0003') {
            onInterrupt()
            return resolve(undefined)
          }
          if (sign === '\u0004') return resolve(line.length === 0 ? undefined : line.join(''))
          if (sign === '\u0015') {
            show(ERASE.repeat(line.length))
            line = []
          } else if (sign === '\u007f' || sign === '\b') {
            if (line.pop() !== undefined) show(ERASE)
          } else if (sign >= ' ') {
            line.push(sign)
            show(sign)
          }
        }
      }
      signal.addEventListener('abort', onAbort)
      stdin.on('data', onKeys)
      stdin.resume()
      stderr.write(`${question}: `)
      if (signal.aborted) onAbort()
    })
  } finally {
    signal.removeEventListener('abort', onAbort)
    stdin.off('data', onKeys)
    stdin.setRawMode?.(false)
    stdin.pause()
    stderr.write('\n')
  }
}

/** Arrow keys and the like are no text. */
function withoutSequences(text: string): Iterable<string> {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it begins what is looked for
  return text.replaceAll(/\u001b(?:\[[0-9;?]*[@-~]|O.|.)?/g, '')
}
