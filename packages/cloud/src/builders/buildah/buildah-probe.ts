import { askProgram } from '../ask-program.ts'
import type { Builder, BuilderProbe } from '../builder.ts'
import type { Limiter } from '../limits/limiter.ts'
import { BuildahBuilder } from './buildah-builder.ts'
import { BuildahStorage } from './buildah-storage.ts'
import { namespacesWork } from './namespaces.ts'

/** Looks whether buildah builds here. */
export function buildahProbe(options: {
  readonly limiter: () => Promise<Limiter>
  /** A folder for its images and layers; else its usual one. */
  readonly storage?: string
}): BuilderProbe {
  return {
    kind: 'buildah',
    probe: async (): Promise<Builder | { readonly unavailable: string }> => {
      const answer = await askProgram(['buildah', '--version'])
      if (answer.status !== 0) return { unavailable: 'buildah is not installed' }
      const version = /version (\d\S*)/.exec(answer.stdout)?.[1] ?? ''
      const storage = await BuildahStorage.open(options.storage)
      if ('unavailable' in storage) return storage
      const namespaces = !storage.rootless && (await namespacesWork())
      return new BuildahBuilder({ version, storage, namespaces, limiter: await options.limiter() })
    },
  }
}
