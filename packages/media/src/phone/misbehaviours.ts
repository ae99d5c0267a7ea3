/** What the number of a misbehaviour means. */
export type MisbehaviourUnit = 'ms' | '%' | 's'

/** One way to be a bad carrier. */
export interface Misbehaviour {
  readonly help: string
  /** A misbehaviour without a unit is there or not. */
  readonly unit?: MisbehaviourUnit
  readonly default: number
  readonly min: number
  readonly max: number
  /** The call cannot end properly after this. */
  readonly breaksCall?: boolean
}

const SECONDS = { unit: 's', min: 0, max: 3600 } as const
const SHARE = { unit: '%', min: 0, max: 100 } as const
const THERE = { default: 1, min: 1, max: 1 } as const

/** Every way to misbehave. They can be combined, and are the same each time for the same seed. */
export const MISBEHAVIOURS = {
  jitter: { help: 'packets come up to so much later, in order', unit: 'ms', default: 40, min: 0, max: 5000 },
  loss: { help: 'this share of the packets never comes', default: 5, ...SHARE },
  late: {
    help: 'every tenth packet comes so much later, out of order',
    unit: 'ms',
    default: 120,
    min: 0,
    max: 5000,
  },
  duplicate: { help: 'this share of the packets comes twice', default: 5, ...SHARE },
  malformed: { help: 'a bad message follows this share of the packets', default: 10, ...SHARE },
  'slow-reader': { help: 'one second into the call, nothing is read for so long', default: 3, ...SECONDS },
  'second-start': { help: 'one second into the call, it starts again on the same socket', ...THERE },
  'same-id': { help: 'one second into the call, a second one comes with the same ids', ...THERE },
  'half-closed': {
    help: 'after so long the sending half is closed, without a word',
    default: 3,
    breaksCall: true,
    ...SECONDS,
  },
  vanish: {
    help: 'after so long nothing is sent or answered any more, and nothing is closed',
    default: 3,
    breaksCall: true,
    ...SECONDS,
  },
  'no-stop': { help: 'hangs up by dropping the connection', ...THERE },
} as const satisfies Record<string, Misbehaviour>

/** The name of a misbehaviour. */
export type MisbehaviourName = keyof typeof MISBEHAVIOURS

/** Every name, in the order in which they are shown. */
export const MISBEHAVIOUR_NAMES = Object.keys(MISBEHAVIOURS) as readonly MisbehaviourName[]

/** What a call does wrong, and how much of it. */
export type Misbehaviours = Readonly<Partial<Record<MisbehaviourName, number>>>
