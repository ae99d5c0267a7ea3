import type { Engine, Instance } from './engine.ts'

/** Stands where nothing can run instances: builds, secrets and keys work, agents do not. */
export const noEngine: Engine = {
  description: 'nothing',
  refusal: async () => 'This cloud was started without a way to run agents.',
  start: async (): Promise<Instance> => {
    throw new Error('This cloud was started without a way to run agents.')
  },
  find: async () => undefined,
  list: async () => [],
  remove: async () => {},
  close: async () => {},
}
