import { mkdir, readFile, realpath, stat, writeFile } from 'node:fs/promises'
import { join, sep } from 'node:path'
import type { BaseImage, Builder, BuildInput, BuildOutput, BuildResult } from '../builder.ts'
import { basesAreSame, basesOf } from '../dockerfile/bases.ts'
import { type CheckedDockerfile, checkAloud } from '../dockerfile/check.ts'
import { aborted, classify, type FailedResult } from '../failures/classify.ts'
import { lastStep } from '../failures/engine-steps.ts'
import { limitReached } from '../failures/limit-reached.ts'
import { OutputTail } from '../failures/output-tail.ts'
import { requirementsFile } from '../failures/requirements-file.ts'
import { cageName } from '../limits/cage.ts'
import { folderSize } from '../limits/folder-size.ts'
import type { CommandEnd, Limiter } from '../limits/limiter.ts'
import type { BuildahStorage } from './buildah-storage.ts'
import { knownHole } from './known-holes.ts'
import { inNamespaces } from './namespaces.ts'

/** What buildah says when it itself could not do something, and not a command of the build. */
const OWN_STATUS = 125
/** Failures of the engine. A command of the build may print anything, so only the engine's own status stands for them. */
const ENGINE_CODES = ['dockerfile_syntax', 'copy_source_missing', 'base_image_missing'] as const
const BUILD_FILE = 'Dockerfile'
const PASSED =
  /^(?:PATH|HOME|LANG|(?:https?|no)_proxy|REGISTRY_AUTH_FILE|DOCKER_CONFIG|SSL_CERT_(?:FILE|DIR)|CONTAINERS_\w+|XDG_RUNTIME_DIR)$/i

/** Builds images with buildah, without a daemon. */
export class BuildahBuilder implements Builder {
  readonly name: string
  readonly #storage: BuildahStorage
  readonly #limiter: Limiter
  readonly #namespaces: boolean
  readonly #version: string

  constructor(options: {
    readonly version: string
    /** Whether commands can have namespaces of their own. */
    readonly namespaces: boolean
    readonly storage: BuildahStorage
    readonly limiter: Limiter
  }) {
    const who = options.storage.rootless ? 'rootless, ' : ''
    const where = options.namespaces
      ? 'in namespaces of its own for processes, mounts and shared memory'
      : "without namespaces of its own: it sees the machine's processes"
    this.name = `buildah ${options.version} (${who}chroot isolation, ${where}; ${options.limiter.description})`
    this.#version = options.version
    this.#namespaces = options.namespaces
    this.#storage = options.storage
    this.#limiter = options.limiter
  }

  async build(input: BuildInput, output: BuildOutput, signal: AbortSignal): Promise<BuildResult> {
    const checked = await checkAloud(input, output)
    if ('result' in checked) return checked.result
    const hole = await knownHole(this.#version, checked, input.context)
    if (hole !== undefined) {
      output.say(`${hole.message}. ${hole.failure.hint}`)
      return hole
    }
    if (signal.aborted) return aborted(signal)
    const tail = new OutputTail(output)
    const since = new Date()
    const disk = async (): Promise<number> =>
      (await folderSize(input.scratch)) + (await this.#storage.sizeOf(input.buildId, since))
    const run = await this.#limiter.open({ buildId: input.buildId, limits: input.limits, signal, disk })
    let end: CommandEnd
    try {
      await mkdir(join(input.scratch, 'tmp'), { recursive: true })
      // What was checked is what is built, under a name that means nothing to buildah.
      await writeFile(join(input.scratch, BUILD_FILE), checked.text)
      const command = this.#command(input, await ignoreFileOf(input))
      end = await run.run({
        argv: this.#namespaces ? inNamespaces(command) : command,
        cwd: input.context,
        env: environment(input.scratch),
        output: (bytes) => tail.write(bytes),
        // It drops what a command wrote last, if its own output is not taken from it at once.
        spool: join(input.scratch, 'output'),
      })
    } finally {
      await run.close()
      // A build that was ended leaves its working containers, and they stay mounted.
      await this.#storage.removeContainers(input.buildId)
    }
    if (end.ended !== 'itself' || end.status !== 0) return await failureOf(end, tail, checked, input, signal)
    const id = (await readFile(join(input.scratch, 'image'), 'utf8')).trim().replace(/^sha256:/, '')
    const imageSizeBytes = await this.#storage.imageSize(id)
    const bases = await basesOf(checked, (name) => this.#storage.imageId(name))
    return { ok: true, imageUri: input.imageName, imageSizeBytes, bases }
  }

  async cleanUp(buildId: string): Promise<void> {
    await this.#limiter.cleanUp(buildId)
    await this.#storage.removeContainers(buildId)
  }

  async isFresh(imageUri: string, bases: readonly BaseImage[]): Promise<boolean> {
    if ((await this.#storage.imageId(imageUri)) === null) return false
    return await basesAreSame(bases, (name) => this.#storage.imageId(name))
  }

  async remove(imageUri: string): Promise<void> {
    await this.#storage.ask(['rmi', imageUri])
  }

  #command(input: BuildInput, ignoreFile: string | undefined): readonly string[] {
    return [
      ...this.#storage.command,
      'build',
      ...['--isolation', 'chroot', '--layers', '--force-rm', '--retry', '1', '--retry-delay', '1s'],
      // Without effect on this isolation; it is written into working containers, and so they are known again.
      ...['--cgroup-parent', cageName(input.buildId)],
      ...(input.noCache ? ['--no-cache'] : ['--pull=false']),
      ...['--tag', input.imageName, '--iidfile', join(input.scratch, 'image')],
      ...['--file', join(input.scratch, BUILD_FILE)],
      ...(ignoreFile === undefined ? [] : ['--ignorefile', ignoreFile]),
      input.context,
    ]
  }
}

/** The list of left-out files that belongs to this container build file; it wins over that of the whole context. */
async function ignoreFileOf({ context, dockerfilePath }: BuildInput): Promise<string | undefined> {
  const path = await realpath(join(context, `${dockerfilePath}.dockerignore`)).catch(() => undefined)
  if (path === undefined || !path.startsWith(`${await realpath(context)}${sep}`)) return undefined
  return (await stat(path)).isFile() ? path : undefined
}

function environment(scratch: string): Readonly<Record<string, string>> {
  const own = Object.entries(process.env).flatMap(([name, value]) =>
    value !== undefined && PASSED.test(name) ? [[name, value]] : [],
  )
  return { ...Object.fromEntries(own), TMPDIR: join(scratch, 'tmp') }
}

async function failureOf(
  end: CommandEnd,
  tail: OutputTail,
  file: CheckedDockerfile,
  input: BuildInput,
  signal: AbortSignal,
): Promise<FailedResult> {
  const step = lastStep(tail.lines, file)
  const reached = limitReached(end, input.limits, step, signal)
  if (reached !== undefined) return reached
  const own = end.status === OWN_STATUS && !/exit status 125$/.test(tail.lines.at(-1) ?? '')
  const result = classify({
    lines: tail.lines,
    status: end.status,
    step,
    requirements: await requirementsFile(input),
    ...(own ? {} : { except: ENGINE_CODES }),
  })
  if (!own || result.failure.code !== 'command_failed') return result
  return {
    ...result,
    failure: { ...result.failure, code: 'builder_failed', hint: 'The engine says what went wrong.' },
  }
}
