import type { ServiceCategory } from '../configuration.ts'

/** Python floors that occur. */
export type PythonVersion = '3.11' | '3.12'

/** What a parameter of a service's constructor gets. */
export type Value =
  /** From the environment; the bot does not start without it. */
  | { readonly kind: 'required'; readonly variable: string }
  /** From the environment; not passed at all when it is not set, so that the library's default holds. */
  | {
      readonly kind: 'optional'
      readonly variable: string
      /** What the library takes then, where it says so. */
      readonly libraryDefault?: string
      /** What the text is made into. */
      readonly type?: 'whole number'
      /** The only values that there are. */
      readonly allowed?: readonly string[]
    }
  /** From the environment, or else this: the library has no default of its own. */
  | { readonly kind: 'either'; readonly variable: string; readonly fallback: string }
  /** Python as it stands. */
  | { readonly kind: 'literal'; readonly code: string }
  /** A member of something that is imported. */
  | { readonly kind: 'member'; readonly name: string; readonly module: string; readonly member: string }
  /** The prompt of the bot. */
  | { readonly kind: 'instruction' }
  /** The HTTP session that services share. */
  | { readonly kind: 'session' }
  /** Another object. */
  | {
      readonly kind: 'object'
      readonly name: string
      readonly module: string
      readonly parameters: ServiceParameters
    }

/** ServiceParameters by name, in the order in which they are written. */
export type ServiceParameters = Readonly<Record<string, Value>>

/** A variable that the vendor's own library reads. */
export interface LibraryVariable {
  readonly variable: string
  readonly required: boolean
}

/** What the table says of a service. */
export interface ServiceFacts {
  readonly id: string
  readonly label: string
  readonly className: string
  /** Below `pipecat.services`. */
  readonly module: string
  /** Of `pipecat-ai`. */
  readonly extras: readonly string[]
  readonly parameters: ServiceParameters
  /** What goes into the `Settings` of the class. */
  readonly settings?: ServiceParameters
  readonly libraryReads?: readonly LibraryVariable[]
  /** Default: 3.11. */
  readonly python?: PythonVersion
  /** Whether it runs on the machine of the bot, without an account. */
  readonly local?: boolean
  /** Whether it looks at the video of the caller by itself. */
  readonly sees?: boolean
  /** The size of the pictures that it makes. Sent in another shape, a face is stretched. */
  readonly picture?: PictureSize
}

/** Pixels. */
export interface PictureSize {
  readonly width: number
  readonly height: number
}

/** A service of a bot. */
export interface Service extends ServiceFacts {
  readonly category: ServiceCategory
}

/** A key without which the bot does not start. */
export function required(variable: string): Value {
  return { kind: 'required', variable }
}

/** A variable that is passed when it is set. */
export function optional(variable: string, libraryDefault?: string): Value {
  return { kind: 'optional', variable, ...(libraryDefault === undefined ? {} : { libraryDefault }) }
}

/** A variable with a fallback of ours. */
export function either(variable: string, fallback: string): Value {
  return { kind: 'either', variable, fallback }
}

/** Python as it stands. */
export function literal(code: string): Value {
  return { kind: 'literal', code }
}

/** Another object. */
export function object(name: string, module: string, parameters: ServiceParameters = {}): Value {
  return { kind: 'object', name, module, parameters }
}

/** The prompt. */
export const INSTRUCTION: Value = { kind: 'instruction' }

/** The shared HTTP session. */
export const SESSION: Value = { kind: 'session' }

/** What AWS's own library reads. */
export const AWS_KEYS: readonly LibraryVariable[] = [
  { variable: 'AWS_ACCESS_KEY_ID', required: true },
  { variable: 'AWS_SECRET_ACCESS_KEY', required: true },
  { variable: 'AWS_SESSION_TOKEN', required: false },
]
