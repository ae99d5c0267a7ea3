import type { InstanceSettings } from '@botcli/protocol'
import type { Journal } from './journal.ts'

/** What makes a runner the instance of an agent. */
export interface Instance {
  readonly settings: InstanceSettings
  readonly journal: Journal
}
