import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isPlatformPackage } from './package-name.ts'
import type { PlatformPacker } from './platform-packer.ts'

/** What a folder of packages was made of. It is no package, and so it is in no image. */
const STAMP_FILE = 'stamp'

/**
 * The packages of the platform, kept in a folder: `<version>/botcli*.tgz`. They are made when they are first needed, and again when what they
 * are made of has changed.
 */
export class PackedPlatform {
  readonly #folder: string
  readonly #packer: PlatformPacker
  /** One user at a time: nobody reads what another one is about to make anew. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(folder: string, packer: PlatformPacker) {
    this.#folder = folder
    this.#packer = packer
  }

  get version(): string {
    return this.#packer.version
  }

  /** Lets somebody use the packages, by their paths, which are not to be used after that. Tells when they have to be made before. */
  async use(
    user: (paths: readonly string[]) => Promise<void>,
    signal: AbortSignal,
    onPacking: () => void,
  ): Promise<void> {
    const turn = this.#last.then(async () => {
      signal.throwIfAborted()
      await user(await this.#fresh(signal, onPacking))
    })
    this.#last = turn.catch(() => {})
    await turn
  }

  async #fresh(signal: AbortSignal, onPacking: () => void): Promise<readonly string[]> {
    const folder = join(this.#folder, this.version)
    const stamp = await this.#packer.stamp()
    const made = await readFile(join(folder, STAMP_FILE), 'utf8').catch(() => undefined)
    if (made !== stamp) {
      onPacking()
      await this.#make(folder, stamp, signal)
    }
    return await packagesIn(folder)
  }

  /** Made aside, so that a folder of that name is always whole. Those of other versions go: a cloud has one. */
  async #make(folder: string, stamp: string, signal: AbortSignal): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    for (const name of await readdir(this.#folder))
      await rm(join(this.#folder, name), { recursive: true, force: true })
    const draft = `${folder}.part`
    await mkdir(draft)
    try {
      await this.#packer.pack(draft, signal)
      const others = (await readdir(draft)).filter((name) => !isPlatformPackage(name))
      for (const name of others) await rm(join(draft, name), { recursive: true, force: true })
      if ((await packagesIn(draft)).length === 0) throw new Error('no package was made')
      await writeFile(join(draft, STAMP_FILE), stamp)
      await rename(draft, folder)
    } finally {
      await rm(draft, { recursive: true, force: true })
    }
  }
}

async function packagesIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder)).filter(isPlatformPackage).map((name) => join(folder, name))
}
