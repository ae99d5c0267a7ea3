import * as z from 'zod'
import { processIdentity } from './process-identity.ts'

/**
 * How an instance is found again, in `instance.json` of its folder. It is written before there is a process, and again with it.
 * Another version of the cloud may have written it, so that it may say more than is known here.
 */
export const instanceRecord = z.object({
  version: z.literal(1),
  id: z.uuid(),
  /** A folder with a short path that leads to its own, where that is too long for a socket. */
  shortcut: z.string().nullable(),
  run: z.discriminatedUnion('kind', [
    z.object({
      kind: z.literal('bundle'),
      /** Whether its process is bubblewrap, and the runner is inside. */
      sandboxed: z.boolean(),
      /** What was spawned; nothing while it is being started. */
      process: processIdentity.nullable(),
    }),
    z.object({
      kind: z.literal('container'),
      /** How every command of the container engine begins. */
      command: z.array(z.string()).min(1),
      name: z.string(),
      /** The program of the engine that takes the container's output. */
      client: processIdentity.nullable(),
    }),
  ]),
})
export type InstanceRecord = z.infer<typeof instanceRecord>
export type BundleRun = Extract<InstanceRecord['run'], { kind: 'bundle' }>
export type ContainerRun = Extract<InstanceRecord['run'], { kind: 'container' }>
