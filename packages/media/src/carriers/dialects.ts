import type { CarrierDialect } from './dialect.ts'
import { telephonyA } from './telephony-a.ts'
import { telephonyB } from './telephony-b.ts'
import { telephonyC } from './telephony-c.ts'
import { telephonyD } from './telephony-d.ts'

/** Every carrier that is understood. No `start` of one can be read as that of another. */
export const DIALECTS: readonly CarrierDialect[] = [telephonyA, telephonyB, telephonyC, telephonyD]
