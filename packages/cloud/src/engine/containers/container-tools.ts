import { createHash } from 'node:crypto'
import { accessSync, constants, existsSync } from 'node:fs'
import { join } from 'node:path'
import { askProgram } from '../../builders/ask-program.ts'
import { findEngine } from '../../builders/docker/docker-probe.ts'
import type { Clock } from '../../log.ts'
import { ContainerTool } from './container-tool.ts'
import { tryPodman } from './podman-trial.ts'

/** A container engine, and what `run` has to be told on this machine. */
export interface UsableTool {
  readonly tool: ContainerTool
  readonly run: readonly string[]
  /** Whether memory and processors can be limited. */
  readonly limits: boolean
}

/** What was found is looked at again after this long: daemons come and go. */
const FRESH_MS = 30_000

/** The container engines of this machine, in the order in which builds prefer them. */
export class ContainerTools {
  readonly #imageFolder: string
  readonly #env: NodeJS.ProcessEnv
  readonly #clock: Clock
  #found: Promise<readonly ContainerTool[]> | undefined
  #foundAt = 0
  /** By their commands, of which there are as many as sockets of engines. */
  readonly #usable = new Map<string, Promise<UsableTool>>()

  constructor(options: {
    /** Where buildah has its images: they can be run from there. */
    readonly imageFolder: string
    readonly env: NodeJS.ProcessEnv
    readonly clock: Clock
  }) {
    this.#imageFolder = options.imageFolder
    this.#env = options.env
    this.#clock = options.clock
  }

  async all(): Promise<readonly ContainerTool[]> {
    const now = this.#clock()
    if (this.#found === undefined || now - this.#foundAt >= FRESH_MS) {
      this.#foundAt = now
      this.#found = this.#look()
    }
    return await this.#found
  }

  /** The one that has an image. */
  async having(image: string): Promise<ContainerTool | undefined> {
    for (const tool of await this.all()) if (await tool.hasImage(image)) return tool
    return undefined
  }

  /** Whether buildah has an image, for which there is nothing to run it. */
  async isOnlyBuilt(image: string): Promise<boolean> {
    const place = ['--root', join(this.#imageFolder, 'root'), '--runroot', join(this.#imageFolder, 'run')]
    return (await askProgram(['buildah', ...place, 'inspect', '--type', 'image', image])).status === 0
  }

  /** How containers are run with one, which has an image. */
  async usable(tool: ContainerTool, image: string): Promise<UsableTool> {
    const key = tool.command.join(' ')
    const known = this.#usable.get(key) ?? this.#tryOut(tool, image)
    this.#usable.set(key, known)
    known.catch(() => this.#usable.delete(key))
    return await known
  }

  /** Podman leaves its storage mounted onto itself, and then nobody could remove its folder. While containers run it is in use, and stays. */
  async close(): Promise<void> {
    const storage = join(this.#imageFolder, 'root/overlay')
    if (existsSync(storage)) await askProgram(['umount', storage])
  }

  async #tryOut(tool: ContainerTool, image: string): Promise<UsableTool> {
    // A daemon has settled most of it for itself.
    if (!tool.command.includes('--root'))
      return { tool, run: (await tool.hasInit(image)) ? ['--init'] : [], limits: true }
    const { global, run, limits } = await tryPodman(tool.command, this.#imageFolder)
    return { tool: new ContainerTool(tool.name, [...tool.command, ...global]), run, limits }
  }

  async #look(): Promise<readonly ContainerTool[]> {
    const [daemon, podman] = await Promise.all([this.#lookForDaemon(), this.#lookForPodman()])
    return [daemon, podman].flatMap((tool) => tool ?? [])
  }

  async #lookForDaemon(): Promise<ContainerTool | undefined> {
    const engine = await findEngine(this.#env)
    if ('unavailable' in engine) return undefined
    const address = `unix://${engine.socketPath}`
    const name = `${engine.kind} ${engine.version}`
    if (engine.kind === 'podman' && (await askProgram(['podman', '--version'])).status === 0)
      return new ContainerTool(name, ['podman', '--remote', '--url', address])
    // It speaks to podman's service as well.
    if ((await askProgram(['docker', '--version'])).status !== 0) return undefined
    return new ContainerTool(name, ['docker', '--host', address])
  }

  /** Without a daemon, on the images that buildah makes. */
  async #lookForPodman(): Promise<ContainerTool | undefined> {
    const answer = await askProgram(['podman', '--version'])
    if (answer.status !== 0) return undefined
    const version = /version (\d\S*)/.exec(answer.stdout)?.[1] ?? ''
    return new ContainerTool(`podman ${version}`, [
      ...['podman', '--root', join(this.#imageFolder, 'root'), '--runroot', join(this.#imageFolder, 'run')],
      ...['--tmpdir', podmanStateFolder(this.#imageFolder, this.#env)],
    ])
  }
}

/** Where podman keeps what runs. It must be empty after the machine was started again, or what ran before is taken for running. */
export function podmanStateFolder(imageFolder: string, env: NodeJS.ProcessEnv): string {
  const above = process.getuid?.() === 0 ? '/run' : env.XDG_RUNTIME_DIR
  try {
    if (above === undefined) return join(imageFolder, 'tmp')
    accessSync(above, constants.W_OK)
    const name = createHash('sha256').update(imageFolder).digest('hex').slice(0, 12)
    return join(above, `botcli-${name}`)
  } catch {
    return join(imageFolder, 'tmp')
  }
}
