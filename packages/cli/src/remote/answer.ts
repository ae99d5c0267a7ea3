import { RemoteError } from './remote-error.ts'

interface Issue {
  readonly code?: string
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly keys?: readonly string[]
}

/** The part of a schema that answers are read with. */
export interface AnswerSchema<T> {
  safeParse(
    value: unknown,
  ):
    | { readonly success: true; readonly data: T }
    | { readonly success: false; readonly error: { readonly issues: readonly Issue[] } }
}

/** Reads an answer. Fields that this version does not know are left out: the cloud may be newer than the command. */
export function readAnswer<T>(schema: AnswerSchema<T>, value: unknown, from: string): T {
  const first = schema.safeParse(value)
  if (first.success) return first.data
  const unknown = first.error.issues.filter(({ code }) => code === 'unrecognized_keys')
  const copy = structuredClone(value)
  for (const { path, keys = [] } of unknown) removeKeys(copy, path, keys)
  const second = schema.safeParse(copy)
  if (second.success) return second.data
  const [issue] = second.error.issues
  const where = issue && issue.path.length > 0 ? `${issue.path.map(String).join('.')}: ` : ''
  throw RemoteError.local(
    'ANSWER_INVALID',
    `${from} answered what this botcli does not understand (${where}${issue?.message}). Is it a botcli cloud of another version?`,
  )
}

function removeKeys(value: unknown, path: readonly PropertyKey[], keys: readonly string[]): void {
  let place = value
  for (const step of path) {
    if (typeof place !== 'object' || place === null) return
    place = Reflect.get(place, step)
  }
  if (typeof place !== 'object' || place === null) return
  for (const key of keys) Reflect.deleteProperty(place, key)
}
