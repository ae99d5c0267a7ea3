import type { BotType, ClientFramework, Mode, ScaffoldTransport } from '../configuration.ts'
import { canSee } from '../services/index.ts'
import type { ScaffoldKey } from './option.ts'
import { videoTransports } from './transports.ts'

/** What is known of a project so far. What is missing was not given, or was wrong. */
export interface Draft {
  readonly botType?: BotType
  /** There when every transport that was given is right. */
  readonly transports?: readonly ScaffoldTransport[]
  /** Those that are right, also when others are not; the same as `transports` when left out. */
  readonly rightTransports?: readonly ScaffoldTransport[]
  readonly mode?: Mode
  /** There when it is one that exists. */
  readonly realtime?: string
  readonly clientFramework?: ClientFramework
  readonly deployToCloud?: boolean
}

/** Where an option has an effect. */
export interface Condition {
  /** Whether it is so; nothing as long as that cannot be told. */
  holds(draft: Draft): boolean | undefined
  /** The options that decide it. */
  readonly deciders: readonly ScaffoldKey[]
  /** Why it is not; ends the sentence "--x has no effect". */
  otherwise(draft: Draft): string
}

/** Where pictures can go to and fro. */
const CARRIES_VIDEO: Condition = {
  deciders: ['botType', 'transports'],
  holds: ({ botType, transports, rightTransports = transports ?? [] }) => {
    if (botType === 'telephony') return false
    if (videoTransports(rightTransports).length > 0) return true
    return transports === undefined ? undefined : false
  },
  otherwise: ({ botType }) =>
    botType === 'telephony'
      ? 'in a telephony bot; it is for web bots'
      : 'without a transport that carries video; add --transport webrtc or room',
}

/** Every condition that the option table names. */
export const CONDITIONS = {
  web: {
    deciders: ['botType', 'transports'],
    holds: ({ botType }) => (botType === undefined ? undefined : botType === 'web'),
    otherwise: () => 'in a telephony bot; it is for web bots',
  },
  cascade: {
    deciders: ['mode'],
    holds: ({ mode }) => (mode === undefined ? undefined : mode === 'cascade'),
    otherwise: () => 'in realtime mode; it is for --mode cascade',
  },
  realtime: {
    deciders: ['mode'],
    holds: ({ mode }) => (mode === undefined ? undefined : mode === 'realtime'),
    otherwise: () => 'in cascade mode; it is for --mode realtime',
  },
  client: {
    deciders: ['clientFramework', 'botType', 'transports'],
    holds: ({ botType, clientFramework }) => {
      if (botType === 'telephony') return false
      return clientFramework === undefined ? undefined : clientFramework !== 'none'
    },
    otherwise: ({ botType }) =>
      botType === 'telephony'
        ? 'in a telephony bot; it is for web bots'
        : 'without a client; give --client-framework react, too',
  },
  roomPstn: {
    deciders: ['transports'],
    holds: (draft) => hasTransport(draft, 'room_pstn'),
    otherwise: () => 'without --transport room_pstn',
  },
  roomSip: {
    deciders: ['transports'],
    holds: (draft) => hasTransport(draft, 'telephony_a_room_sip'),
    otherwise: () => 'without --transport telephony_a_room_sip',
  },
  video: CARRIES_VIDEO,
  pictures: {
    deciders: ['botType', 'transports', 'mode', 'realtime'],
    holds: (draft) => {
      const carried = CARRIES_VIDEO.holds(draft)
      if (carried !== true || draft.mode !== 'realtime') return carried
      return draft.realtime === undefined ? undefined : canSee({ mode: draft.mode, realtime: draft.realtime })
    },
    otherwise: (draft) =>
      CARRIES_VIDEO.holds(draft) === true
        ? `with ${draft.realtime}, which does not look at pictures`
        : CARRIES_VIDEO.otherwise(draft),
  },
  cloud: {
    deciders: ['deployToCloud'],
    holds: ({ deployToCloud }) => deployToCloud,
    otherwise: () => 'without cloud deployment; leave out --no-deploy-to-cloud',
  },
} satisfies Readonly<Record<string, Condition>>

export type ConditionName = keyof typeof CONDITIONS

function hasTransport(
  { transports, rightTransports = transports ?? [] }: Draft,
  id: ScaffoldTransport,
): boolean | undefined {
  if (rightTransports.includes(id)) return true
  return transports === undefined ? undefined : false
}
