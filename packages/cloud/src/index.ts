export type {
  Builder,
  BuilderProbe,
  BuildInput,
  BuildLimits,
  BuildOutput,
  BuildResult,
} from './builders/builder.ts'
export type { PlatformPacker } from './builds/platform/platform-packer.ts'
export { type CloudOptions, type RunningCloud, startCloud } from './cloud.ts'
export type { CloudConfig } from './config.ts'
export { CloudError } from './errors.ts'
export type { FirstKeys } from './first-start.ts'
export type { CloudLog } from './log.ts'
