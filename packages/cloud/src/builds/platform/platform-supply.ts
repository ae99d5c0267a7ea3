import { chmod, constants, copyFile, readdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { BuildInput, BuildOutput } from '../../builders/builder.ts'
import { checkDockerfile } from '../../builders/dockerfile/check.ts'
import { readSteps, type Step } from '../../builders/dockerfile/step.ts'
import type { CloudLog } from '../../log.ts'
import { isPlatformPackage, PACKAGE_PATTERN } from './package-name.ts'
import type { PackedPlatform } from './packed-platform.ts'

/**
 * Puts the packages of the platform into contexts whose container build files ask for them and that have none. So an image has the botcli of
 * the cloud that builds it, whatever npm has.
 */
export class PlatformSupply {
  readonly #platform: PackedPlatform
  readonly #log: CloudLog

  constructor(platform: PackedPlatform, log: CloudLog) {
    this.#platform = platform
    this.#log = log
  }

  /** It never fails: a build without the packages can still get them from npm. */
  async supply(
    input: Pick<BuildInput, 'buildId' | 'context' | 'dockerfilePath'>,
    output: BuildOutput,
    signal: AbortSignal,
  ): Promise<void> {
    const { version } = this.#platform
    try {
      if (!(await isWanted(input))) return
      await this.#platform.use(
        (paths) => copyAll(paths, input.context),
        signal,
        () => output.say(`Packing botcli ${version}, once for all builds…`),
      )
      output.say(`botcli ${version} comes from this cloud`)
    } catch (error) {
      if (signal.aborted) return
      const why = error instanceof Error ? error.message : String(error)
      output.say(`Warning: botcli ${version} could not be packed, so npm has to have it: ${why}`)
      this.#log.warn('the platform could not be packed for a build', { buildId: input.buildId, error })
    }
  }
}

async function isWanted(input: Pick<BuildInput, 'context' | 'dockerfilePath'>): Promise<boolean> {
  if ((await readdir(input.context)).some(isPlatformPackage)) return false
  // What is wrong with the file, the builder will say.
  const { text } = await checkDockerfile(input)
  return readSteps(text).some(copiesPackages)
}

function copiesPackages({ keyword, flags, json, words }: Step): boolean {
  if (keyword !== 'COPY' && keyword !== 'ADD') return false
  if (flags.some(({ name }) => name === 'from')) return false
  const sources = (json ?? words).slice(0, -1)
  return sources.some((source) => source.replace(/^(?:\.?\/)+/, '') === PACKAGE_PATTERN)
}

/** Copies, not links: a build that finds a way to write into its context must not change what other builds get. All or none. */
async function copyAll(paths: readonly string[], folder: string): Promise<void> {
  const targets = paths.map((path) => join(folder, basename(path)))
  try {
    for (const [index, target] of targets.entries()) {
      await copyFile(paths[index] ?? '', target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
      // As all files of a context, so that the same content is the same layer.
      await chmod(target, 0o644)
    }
  } catch (error) {
    for (const target of targets) await rm(target, { force: true })
    throw error
  }
}
