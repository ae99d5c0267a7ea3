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
  readonly folder: InstanceFolder
  close(): void
}

/** Runs instances on this machine: bundles as processes, images as containers. */
export class ProcessEngine implements Engine {
  readonly #parts: ProcessEngineParts
  /** Those that were started or found, until they are removed. */
  readonly #held = new Map<string, Held>()
  /** Those whose shortcut could not be made, until it can or they are removed. */
  readonly #outOfReach = new Set<string>()

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

  async start(spec: InstanceSpec, unwanted: AbortSignal = new AbortController().signal): Promise<Instance> {
    const { folder: root, bundles, containers } = this.#parts
    const folder = await InstanceFolder.make(root, spec.settings.instanceId)
    try {
      const { artifact } = spec
      const process =
        artifact.kind === 'bundle'
          ? await bundles.start(spec, artifact.folder, folder, unwanted)
          : await containers.start(spec, artifact, folder, unwanted)
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
    try {
      return await this.#find(id)
    } catch (error) {
      // One that is broken must not keep the others from being found.
      this.#parts.log.warn('an instance was not found again', { id, error })
      return undefined
    }
  }

  async #find(id: string): Promise<Instance | undefined> {
    const { folder: root, bundles, containers } = this.#parts
    const found = await InstanceFolder.open(root, id)
    if (found === undefined) return undefined
    const { folder, record } = found
    this.#mend(folder)
    // So that the next one to look for it removes it together with the instance.
    if (folder.shortcut !== record.shortcut) await folder.writeRecord(record.run)
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
    const { folder: root, bundles, containers, log } = this.#parts
    const held = this.#held.get(id)
    held?.close()
    this.#held.delete(id)
    this.#outOfReach.delete(id)
    const isOwn = await InstanceFolder.isOwn(root, id)
    const found = await InstanceFolder.open(root, id).catch((error: unknown) => {
      log.warn('an instance is removed without what was written down of it', { id, error })
      return undefined
    })
    const folder = held?.folder ?? found?.folder ?? InstanceFolder.leftover(root, id)
    if (folder === undefined) return
    if (found?.record.run.kind === 'container') await containers.remove(found.record.run)
    // What runs under this name without a folder of ours is another cloud's, of which our data are a copy.
    if (held || isOwn) {
      await killAll(() => processesWith(instanceMark(id)))
      await bundles.cleanUp(id)
    }
    await folder.remove()
  }

  async close(): Promise<void> {
    for (const held of this.#held.values()) held.close()
    this.#held.clear()
    await this.#parts.containers.close()
  }

  #hold(folder: InstanceFolder, process: BundleProcess | ContainerProcess): Instance {
    const door = new InstanceDoor(folder)
    // What was removed must not come back because somebody still asks for it.
    const mend = () => {
      if (this.#held.get(folder.id)?.folder === folder) this.#mend(folder)
    }
    const instance: Instance = {
      id: folder.id,
      get socketPath() {
        mend()
        return folder.socketWithinReach
      },
      journalFolder: folder.journal,
      outputPath: folder.output,
      exited: process.exited.finally(() => door.close()),
      stop: async (graceMs) =>
        await process.stop(graceMs).catch((cause: unknown) => {
          const why = cause instanceof Error ? cause.message : String(cause)
          throw new Error(`Instance ${folder.id} was not stopped: ${why}`, { cause })
        }),
    }
    this.#held.set(folder.id, {
      instance,
      folder,
      close: () => {
        door.close()
        process.close()
      },
    })
    return instance
  }

  /** Without its shortcut an instance goes on, but cannot be reached: that is told once. */
  #mend(folder: InstanceFolder): void {
    const { log } = this.#parts
    const before = folder.shortcut
    try {
      folder.mendShortcut()
      this.#outOfReach.delete(folder.id)
      if (folder.shortcut !== before)
        log.warn('the shortcut to an instance was taken by somebody else, and it has another one now', {
          id: folder.id,
          before,
          now: folder.shortcut,
        })
    } catch (error) {
      if (!this.#outOfReach.has(folder.id))
        log.warn('an instance cannot be reached: its shortcut could not be made again', {
          id: folder.id,
          error,
        })
      this.#outOfReach.add(folder.id)
    }
  }
}
