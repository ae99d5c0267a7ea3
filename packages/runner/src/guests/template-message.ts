/** What a template says. */
export type TemplateMessage =
  | LoadedMessage
  | { readonly type: 'load-failed'; readonly error: TemplateError }
  | { readonly type: 'forked'; readonly id: number; readonly pid: number }
  | { readonly type: 'fork-failed'; readonly id: number; readonly message: string }
  | { readonly type: 'exited'; readonly pid: number; readonly how: string }

/** The user's code is loaded. */
export interface LoadedMessage {
  readonly type: 'loaded'
  /** The modules of the project, as absolute paths. */
  readonly files: readonly string[]
  /** Why the process must not be forked, when it must not. */
  readonly unsafe: string | undefined
}

interface TemplateError {
  readonly name: string
  readonly message: string
  readonly stack?: string
}

type Fields = Readonly<Record<string, unknown>>

const MAX_FILES = 1000

/** Reads one line of a template; nothing when it makes no sense. */
export function parseTemplateMessage(line: string): TemplateMessage | undefined {
  let fields: Fields
  try {
    const value: unknown = JSON.parse(line)
    if (typeof value !== 'object' || value === null) return undefined
    fields = value as Fields
  } catch {
    return undefined
  }
  if (fields.type === 'loaded') return loaded(fields)
  if (fields.type === 'load-failed') return { type: 'load-failed', error: errorOf(fields.error) }
  const { type, id, pid } = fields
  if (type === 'fork-failed' && isWhole(id)) return { type, id, message: text(fields.message) ?? '' }
  if (!isWhole(pid) || pid < 2) return undefined
  if (type === 'forked' && isWhole(id)) return { type, id, pid }
  if (type === 'exited') return { type, pid, how: howOf(fields) }
  return undefined
}

function loaded(fields: Fields): LoadedMessage {
  const reason = text(fields.reason) ?? 'its code runs several threads'
  return {
    type: 'loaded',
    files: filesOf(fields),
    unsafe: fields.forkSafe === true ? undefined : reason,
  }
}

function filesOf({ files }: Fields): readonly string[] {
  if (!Array.isArray(files)) return []
  return files.filter((file): file is string => typeof file === 'string').slice(0, MAX_FILES)
}

function errorOf(value: unknown): TemplateError {
  const fields = typeof value === 'object' && value !== null ? (value as Fields) : {}
  const stack = text(fields.stack)
  return {
    name: text(fields.name) ?? 'Error',
    message: text(fields.message) ?? '',
    ...(stack !== undefined && { stack }),
  }
}

function howOf({ code, signal }: Fields): string {
  return text(signal) === undefined ? `exited with code ${String(code)}` : `was ended by ${text(signal)}`
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value)
}
