import { killAll, processesWith } from '../builders/limits/processes.ts'
import type { CloudLog } from '../log.ts'
import type { BundleProcess } from './bundles/bundle-process.ts'
import type { BundleRuns } from './bundles/bundle-runs.ts'
import type { ContainerProcess } from './containers/container-process.ts'
import type { ContainerRuns } from './containers/container-runs.ts'
import type { Artifact, Engine, Instance, InstanceSpec } from './engine.ts'
import { InstanceDoor } from './instance-door.ts'
import { instanceMark } from './instance-environment.ts'
import { InstanceFolder } from './instance-folder.ts'

/** What a process engine is made of. */
export interface ProcessEngineParts {
  /** Where the folders of the instances are. */
  readonly folder: string
  readonly bundles: BundleRuns
  readonly containers: ContainerRuns
  readonly log: CloudLog
}

interface Held {
  readonly instance: Instance
  close(): void
}

/** Runs instances on this machine: bundles as processes, images as containers. */
export class ProcessEngine implements Engine {
  readonly #parts: ProcessEngineParts
  /** Those that were started or found, until they are removed. */
  readonly #held = new Map<string, Held>()

  constructor(parts: ProcessEngineParts) {
    this.#parts = parts
  }

  get description(): string {
    return `${this.#parts.bundles.description}; ${this.#parts.containers.description}`
  }

  async refusal(artifact: Artifact): Promise<string | undefined> {
    return artifact.kind === 'bundle'
      ? await this.#parts.bundles.refusal(artifact.folder)
      : await this.#parts.containers.refusal(artifact)
  }

  async start(spec: InstanceSpec): Promise<Instance> {
    const { folder: root, bundles, containers } = this.#parts
    const folder = await InstanceFolder.make(root, spec.settings.instanceId)
    try {
      const { artifact } = spec
      const process =
        artifact.kind === 'bundle'
          ? await bundles.start(spec, artifact.folder, folder)
          : await containers.start(spec, artifact, folder)
      return this.#hold(folder, process)
    } catch (error) {
      await this.remove(folder.id).catch((failure: unknown) =>
        this.#parts.log.warn('what is left of an instance was not removed', {
          id: folder.id,
          error: failure,
        }),
      )
      throw error
    }
  }

  async find(id: string): Promise<Instance | undefined> {
    const held = this.#held.get(id)
    if (held !== undefined) return held.instance
    const { folder: root, bundles, containers } = this.#parts
    const found = await InstanceFolder.open(root, id)
    if (found === undefined) return undefined
    const { folder, record } = found
    const process =
      record.run.kind === 'bundle'
        ? await bundles.find(folder, record.run)
        : await containers.find(folder, record.run)
    // Somebody else may have asked for it meanwhile.
    const other = this.#held.get(id)
    if (other === undefined) return this.#hold(folder, process)
    process.close()
    return other.instance
  }

  async list(): Promise<readonly string[]> {
    return await InstanceFolder.list(this.#parts.folder)
  }

  async remove(id: string): Promise<void> {
    const { folder: root, bundles, containers } = this.#parts
    this.#held.get(id)?.close()
    this.#held.delete(id)
    const found = await InstanceFolder.open(root, id)
    const folder = found?.folder ?? InstanceFolder.leftover(root, id)
    if (folder === undefined) return
    if (found?.record.run.kind === 'container') await containers.remove(found.record.run)
    await killAll(() => processesWith(instanceMark(id)))
    await bundles.cleanUp(id)
    await folder.remove()
  }

  async close(): Promise<void> {
    for (const held of this.#held.values()) held.close()
    this.#held.clear()
  }

  #hold(folder: InstanceFolder, process: BundleProcess | ContainerProcess): Instance {
    const door = new InstanceDoor(folder)
    const instance: Instance = {
      id: folder.id,
      socketPath: folder.socket,
      journalFolder: folder.journal,
      outputPath: folder.output,
      exited: process.exited.finally(() => door.close()),
      stop: async (graceMs) => await process.stop(graceMs),
    }
    this.#held.set(folder.id, {
      instance,
      close: () => {
        door.close()
        process.close()
      },
    })
    return instance
  }
}
