import { expect, it, vi } from 'vitest'
import { Sweep, type SweepOptions } from './sweep.ts'

it('whatever cannot be removed is told, and keeps nothing else from being removed', async () => {
  const told: unknown[] = []
  const fails = async () => {
    throw new Error('full')
  }
  const slow = vi.fn(() => new Promise<void>((_, reject) => setTimeout(reject, 20, new Error('full'))))
  const renewSecrets = vi.fn(async () => {})
  const options = {
    uploads: { sweep: slow },
    agentLogs: { prune: fails },
    store: { sessions: { prune: fails }, agents: { prune: fails }, secrets: { pruneFormer: fails } },
    agents: { renewSecrets },
    config: { logDays: 1 },
    ...{ everyMs: 5, clock: Date.now },
    log: {
      info: () => {},
      warn: (_: string, { what }: { what: string }) => told.push(what),
      error: () => {},
    },
  }
  const sweep = new Sweep(options as unknown as SweepOptions)
  await vi.waitFor(() => expect(renewSecrets).toHaveBeenCalled())
  sweep.close()
  expect(new Set(told)).toEqual(new Set(['uploads', 'logs', 'sessions', 'agents', 'secrets']))
})
