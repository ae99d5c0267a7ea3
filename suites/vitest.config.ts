import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'

/** Suites that need more than a fresh machine has. Each says why it was skipped where it cannot run. */
export default defineConfig({
  test: {
    root: resolve(import.meta.dirname, '..'),
    include: ['suites/**/*.test.ts'],
    globalSetup: ['suites/pipecat/library.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Each of them keeps a core busy with voice detection alone.
    maxWorkers: 1,
  },
})
