import type { CarrierId } from '@botcli/protocol'
import type { PhoneDialect } from './dialect.ts'
import { phoneA } from './telephony-a.ts'
import { phoneB } from './telephony-b.ts'
import { phoneC } from './telephony-c.ts'
import { phoneD } from './telephony-d.ts'

/** Every carrier that can be played. */
export const PHONES: Readonly<Record<CarrierId, PhoneDialect>> = {
  telephony_a: phoneA,
  telephony_b: phoneB,
  telephony_c: phoneC,
  telephony_d: phoneD,
}
