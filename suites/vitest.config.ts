import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'

/** What listens and talks: each keeps a core busy with voice detection alone, so one runs at a time. */
const VOICE = ['suites/pipecat/**/*.test.ts', 'suites/scaffold/{talk,calls,call-server,look}.test.ts']
const ALL = ['suites/**/*.test.ts']

/** Suites that need more than a fresh machine has. Each says why it was skipped where it cannot run. */
export default defineConfig({
  test: {
    root: resolve(import.meta.dirname, '..'),
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Who else uses the machine makes a voice stumble: what fails is tried once more, and shown as such.
    retry: 1,
    globalSetup: ['suites/pipecat/library.ts'],
    projects: [
      {
        extends: true,
        test: { name: 'tools', include: ALL, exclude: VOICE, maxWorkers: 3, sequence: { groupOrder: 0 } },
      },
      {
        extends: true,
        test: { name: 'voice', include: VOICE, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
})
