import { once } from 'node:events'
import * as z from 'zod'
import type { BaseImage, Builder, BuildInput, BuildOutput, BuildResult } from '../builder.ts'
import { basesAreSame, basesOf } from '../dockerfile/bases.ts'
import { type CheckedDockerfile, checkAloud } from '../dockerfile/check.ts'
import { aborted, classify, type FailedResult, failed, timedOut } from '../failures/classify.ts'
import { lastStep } from '../failures/engine-steps.ts'
import { OutputTail } from '../failures/output-tail.ts'
import { requirementsFile } from '../failures/requirements-file.ts'
import { NO_REGISTRY } from '../failures/rules.ts'
import { type BuildEvent, BuildStream } from './build-stream.ts'
import { contextTar } from './context-tar.ts'
import { type EngineClient, engineMessage } from './engine-client.ts'
import { PodmanLeftovers, podmanMark } from './podman-leftovers.ts'

/** Failures of the engine itself, which the output of a command of the build cannot stand for. */
const ENGINE_CODES = ['dockerfile_syntax', 'copy_source_missing', 'base_image_missing'] as const
const BASE_HINT = `Check the name and the tag of the image, and that this machine reaches the registry. ${NO_REGISTRY}`
const BUILDKIT_FLAGS = new Set(['link', 'parents', 'exclude', 'chmod', 'checksum', 'keep-git-dir', 'unpack'])
const SETTLE_MS = 15_000
const image = z.object({ Id: z.string(), Size: z.number() })
const containers = z.array(z.object({ Id: z.string() }))
const container = z.object({ HostConfig: z.object({ ExtraHosts: z.array(z.string()).nullish() }) })

/** Builds images by the Docker Engine API: with dockerd, or with podman's service. */
export class DockerBuilder implements Builder {
  readonly name: string
  readonly #engine: EngineClient
  readonly #podman: PodmanLeftovers | undefined

  constructor(options: {
    readonly kind: 'docker' | 'podman'
    readonly version: string
    readonly engine: EngineClient
  }) {
    this.#podman = options.kind === 'podman' ? new PodmanLeftovers(options.engine.socketPath) : undefined
    this.name = `${options.kind} ${options.version} (memory limited by the engine; processes and disk are not)`
    this.#engine = options.engine
  }

  async build(input: BuildInput, output: BuildOutput, signal: AbortSignal): Promise<BuildResult> {
    const checked = await checkAloud(input, output)
    if ('result' in checked) return checked.result
    if (signal.aborted) return aborted(signal)
    const tail = new OutputTail(output)
    const ending = new AbortController()
    const end = (): void => ending.abort()
    signal.addEventListener('abort', end)
    const timer = setTimeout(end, Math.ceil(input.limits.seconds * 1000))
    try {
      const buildkit = this.#podman === undefined && needsBuildkit(checked)
      if (buildkit) output.say('BuildKit is used, for what only it knows; it does not limit memory.')
      const error = await this.#run(input, buildkit, tail, ending.signal)
      if (error !== undefined) {
        await this.#podman?.remove(input.buildId)
        return failureOf(error, tail, checked, await requirementsFile(input))
      }
    } catch (error) {
      // The engine ends a build whose client is gone.
      await this.cleanUp(input.buildId)
      if (signal.aborted) return aborted(signal)
      if (ending.signal.aborted) return timedOut(input.limits.seconds)
      const hint = 'Look whether the engine runs, and what its own log says.'
      return failed('builder_failed', `the engine broke off: ${(error as Error).message}`, undefined, hint)
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
    }
    const made = await this.#image(input.imageName)
    if (made === undefined)
      return failed('builder_failed', 'the engine does not have the image', undefined, 'Build it again.')
    const bases = await basesOf(checked, (name) => this.#idOf(name))
    return { ok: true, imageUri: input.imageName, imageSizeBytes: made.Size, bases }
  }

  /** Removes the containers that a build ran in, once the engine has noticed that nobody waits for it. */
  async cleanUp(buildId: string): Promise<void> {
    if (this.#podman !== undefined) return await this.#podman.remove(buildId)
    await this.#engine.ask({ method: 'POST', path: '/build/cancel', query: { id: buildId } })
    const end = performance.now() + SETTLE_MS
    for (
      let left = await this.#containersOf(buildId);
      left.length > 0;
      left = await this.#containersOf(buildId)
    ) {
      for (const id of left)
        await this.#engine.ask({ method: 'DELETE', path: `/containers/${id}`, query: { force: '1', v: '1' } })
      if (performance.now() > end) return
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }

  async isFresh(imageUri: string, bases: readonly BaseImage[]): Promise<boolean> {
    if ((await this.#image(imageUri)) === undefined) return false
    return await basesAreSame(bases, (name) => this.#idOf(name))
  }

  async remove(imageUri: string): Promise<void> {
    await this.#engine.ask({ method: 'DELETE', path: `/images/${imageUri}`, query: { force: '1' } })
  }

  /** An image that the engine has here. */
  async #image(name: string): Promise<z.infer<typeof image> | undefined> {
    const { body } = await this.#engine.ask({ method: 'GET', path: `/images/${name}/json` })
    return image.safeParse(body).data
  }

  async #idOf(name: string): Promise<string | null> {
    return (await this.#image(name))?.Id ?? null
  }

  /** Builds; the error that the engine told, if there was one. */
  async #run(
    input: BuildInput,
    buildkit: boolean,
    tail: OutputTail,
    signal: AbortSignal,
  ): Promise<Extract<BuildEvent, { kind: 'error' }> | undefined> {
    const body = contextTar(input.context)
    const answer = await this.#engine.open({
      method: 'POST',
      path: '/build',
      query: this.#query(input, buildkit),
      body,
      signal,
    })
    const stream = new BuildStream()
    const ended = once(answer, 'close').catch(() => undefined)
    let problem: Extract<BuildEvent, { kind: 'error' }> | undefined
    const take = (events: readonly BuildEvent[]): void => {
      for (const event of events) {
        if (event.kind === 'output') tail.write(event.text)
        if (event.kind === 'error') problem = event
      }
    }
    if (answer.statusCode !== 200) {
      let text = ''
      for await (const part of answer) text += String(part)
      return { kind: 'error', message: engineMessage(jsonOf(text)), status: undefined }
    }
    try {
      for await (const part of answer) take(stream.write(part as Uint8Array))
      take(stream.end())
    } finally {
      answer.destroy()
      body.destroy()
      await ended
    }
    signal.throwIfAborted()
    if (problem !== undefined) tail.write(`${problem.message}\n`)
    return problem
  }

  #query(input: BuildInput, buildkit: boolean): Readonly<Record<string, string>> {
    const { memoryBytes } = input.limits
    return {
      t: input.imageName,
      dockerfile: input.dockerfilePath,
      ...(buildkit ? { version: '2', buildid: input.buildId } : {}),
      nocache: input.noCache ? '1' : '0',
      rm: '1',
      forcerm: '1',
      memory: String(memoryBytes),
      memswap: String(memoryBytes),
      ...(this.#podman === undefined
        ? { extrahosts: `${hostName(input.buildId)}:127.0.0.1` }
        : { cgroupparent: podmanMark(input.buildId) }),
    }
  }

  async #containersOf(buildId: string): Promise<readonly string[]> {
    const { body } = await this.#engine.ask({ method: 'GET', path: '/containers/json', query: { all: '1' } })
    const all = containers.safeParse(body).data ?? []
    const own = await Promise.all(
      all.map(async ({ Id }) => {
        const { body: state } = await this.#engine.ask({ method: 'GET', path: `/containers/${Id}/json` })
        const hosts = container.safeParse(state).data?.HostConfig.ExtraHosts ?? []
        return hosts.some((host) => host.startsWith(hostName(buildId))) ? [Id] : []
      }),
    )
    return own.flat()
  }
}

/** Whether a file has something that the older builder of the engine does not know. */
function needsBuildkit({ steps }: CheckedDockerfile): boolean {
  return steps.some(
    ({ keyword, flags, heredocs }) =>
      heredocs.length > 0 ||
      (keyword === 'RUN' && flags.length > 0) ||
      flags.some(({ name }) => BUILDKIT_FLAGS.has(name)),
  )
}

/** The name by which the containers of a build are known again: the API has no label for them. */
function hostName(buildId: string): string {
  return `build-${buildId}`
}

function failureOf(
  error: Extract<BuildEvent, { kind: 'error' }>,
  tail: OutputTail,
  file: CheckedDockerfile,
  requirements: string | undefined,
): FailedResult {
  const ofCommand = /non-zero code: \d|exit status \d|exit code: \d/.test(error.message)
  const step = lastStep(tail.lines, file)
  if (ofCommand)
    return classify({ lines: tail.lines, status: error.status, step, requirements, except: ENGINE_CODES })
  // Whatever the way to a registry broke on, it broke on the base image.
  if (step?.keyword === 'FROM') return failed('base_image_missing', error.message, step, BASE_HINT)
  const result = classify({ lines: [error.message], status: undefined, step })
  if (result.failure.code !== 'command_failed') return result
  return {
    ...result,
    failure: { ...result.failure, code: 'builder_failed', hint: 'The engine says what went wrong.' },
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text.trim()
  }
}
