import { join } from 'node:path'
import { buildahProbe } from './builders/buildah/buildah-probe.ts'
import type { BuilderProbe } from './builders/builder.ts'
import { dockerProbe } from './builders/docker/docker-probe.ts'
import { findLimiter } from './builders/limits/find-limiter.ts'
import type { Limiter } from './builders/limits/limiter.ts'
import { nativeProbe } from './builders/native/native-probe.ts'

/** The ways in which this machine may build, best first. */
export function machineBuilders(dataFolder: string, bundleFolder: string): readonly BuilderProbe[] {
  let found: Promise<Limiter> | undefined
  const limiter = (): Promise<Limiter> => {
    found ??= findLimiter()
    return found
  }
  return [
    dockerProbe(),
    buildahProbe({ limiter, storage: join(dataFolder, 'images') }),
    nativeProbe({ limiter, bundles: bundleFolder, hide: [dataFolder] }),
  ]
}
