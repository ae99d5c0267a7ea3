import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { type Answer, askProgram } from '../ask-program.ts'
import { cageName } from '../limits/cage.ts'
import { folderSize } from '../limits/folder-size.ts'
import { type WorkingContainer, workingContainers } from './working-containers.ts'

const info = z.object({
  host: z.object({ rootless: z.boolean() }),
  store: z.object({ GraphDriverName: z.string(), GraphRoot: z.string() }),
})
const layers = z.array(
  z.object({
    id: z.string(),
    parent: z.string().optional(),
    created: z.string(),
    'diff-size': z.number().optional(),
  }),
)
const images = z.array(z.object({ id: z.string(), layer: z.string().optional() }))

type Layers = ReadonlyMap<string, z.infer<typeof layers>[number]>

/** The images, layers and working containers of buildah, in a place of their own. */
export class BuildahStorage {
  /** How every command begins. */
  readonly command: readonly string[]
  readonly rootless: boolean
  readonly #root: string
  readonly #driver: string

  private constructor(command: readonly string[], root: string, driver: string, rootless: boolean) {
    this.command = command
    this.rootless = rootless
    this.#root = root
    this.#driver = driver
  }

  /** Opens it; or says why buildah cannot. */
  static async open(folder: string | undefined): Promise<BuildahStorage | { readonly unavailable: string }> {
    const command =
      folder === undefined
        ? ['buildah']
        : ['buildah', '--root', join(folder, 'root'), '--runroot', join(folder, 'run')]
    const answer = await askProgram([...command, 'info'])
    if (answer.status !== 0)
      return { unavailable: `buildah does not work here: ${answer.stderr.trim().split('\n').at(-1)}` }
    const { host, store } = info.parse(JSON.parse(answer.stdout))
    return new BuildahStorage(command, store.GraphRoot, store.GraphDriverName, host.rootless)
  }

  async ask(args: readonly string[]): Promise<Answer> {
    return await askProgram([...this.command, ...args], { timeoutMs: 60_000 })
  }

  /** The id of an image that is here. */
  async imageId(name: string): Promise<string | null> {
    const { status, stdout } = await this.ask([
      ...['inspect', '--type', 'image', '--format', '{{.FromImageID}}'],
      name,
    ])
    return status === 0 && stdout.trim() !== '' ? stdout.trim() : null
  }

  /** Removes the containers that a build was made in, with their mounts. */
  async removeContainers(buildId: string): Promise<void> {
    const ids = (await this.#containersOf(buildId)).map(({ id }) => id)
    if (ids.length > 0) await this.ask(['rm', ...ids])
  }

  /** The disk space of what a build has made since a time. */
  async sizeOf(buildId: string, since: Date): Promise<number> {
    const all = await this.#layers()
    const own = new Set<string>()
    for (const { layer } of await this.#containersOf(buildId))
      for (const id of lineage(all, layer)) if (new Date(all.get(id)?.created ?? 0) >= since) own.add(id)
    let bytes = 0
    for (const id of own) bytes += await folderSize(join(this.#root, this.#driver, id, 'diff'))
    return bytes
  }

  /** The size of an image: that of all its layers. */
  async imageSize(id: string): Promise<number> {
    const found = (await this.#read(`${this.#driver}-images/images.json`, images)).find(
      (image) => image.id === id,
    )
    const all = await this.#layers()
    return lineage(all, found?.layer).reduce((sum, layer) => sum + (all.get(layer)?.['diff-size'] ?? 0), 0)
  }

  async #containersOf(buildId: string): Promise<readonly WorkingContainer[]> {
    return await workingContainers({ root: this.#root, driver: this.#driver }, cageName(buildId))
  }

  async #layers(): Promise<Layers> {
    const all = await this.#read(`${this.#driver}-layers/layers.json`, layers)
    return new Map(all.map((layer) => [layer.id, layer]))
  }

  /** Its files are replaced as a whole, so they are never half written. What is not there yet is empty. */
  async #read<Row>(path: string, schema: z.ZodType<Row[]>): Promise<Row[]> {
    const text = await readFile(join(this.#root, path), 'utf8').catch(() => '[]')
    return schema.safeParse(JSON.parse(text)).data ?? []
  }
}

function lineage(all: Layers, from: string | undefined): readonly string[] {
  const ids: string[] = []
  for (let id = from; id !== undefined && id !== '' && ids.length < 1000; id = all.get(id)?.parent)
    ids.push(id)
  return ids
}
