import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.test.ts', 'examples/**/*.test.ts', 'scripts/**/*.test.ts'],
    testTimeout: 90_000,
    hookTimeout: 90_000,
    // More than there are cores on a small machine: most of them wait, for sound, processes and browsers.
    maxWorkers: 4,
    // No file leaves anything behind for the next one, so that a process can read the modules once for all its files.
    isolate: false,
    // Sound, processes and browsers are real, and somebody else may use the machine: what fails is tried once more, and shown as such.
    retry: 1,
  },
})
