import { posix } from 'node:path'
import type { StagedStep } from '../dockerfile/stages.ts'
import { substitute } from '../dockerfile/variables.ts'

/** One COPY: what was put where. */
interface Placed {
  /** In the image. */
  readonly path: string
  /** In the context. */
  readonly source: string
}

/** Follows where the files of the context would lie in the image, so that paths of RUN and CMD are found without one. */
export class ImagePaths {
  readonly #placed: Placed[]
  readonly #isFolder: (source: string) => boolean
  workdir: string

  constructor(isFolder: (source: string) => boolean, from?: ImagePaths) {
    this.#isFolder = isFolder
    this.#placed = [...(from === undefined ? [] : from.#placed)]
    this.workdir = from?.workdir ?? '/'
  }

  /** Takes a WORKDIR, COPY or ADD. */
  follow(step: StagedStep): void {
    if (step.keyword === 'WORKDIR') this.workdir = posix.resolve(this.workdir, this.#text(step, step.rest))
    if (step.keyword !== 'COPY' && step.keyword !== 'ADD') return
    if (step.flags.some(({ name }) => name === 'from')) return
    const words = (step.json ?? step.words).map((word) => this.#text(step, word))
    const target = words.at(-1) ?? ''
    const sources = words.slice(0, -1)
    const folder = posix.resolve(this.workdir, target)
    const intoFolder = sources.length > 1 || /(?:^|\/)\.{0,2}$/.test(target) || this.#isPlaced(folder)
    for (const source of sources)
      this.#place(posix.normalize(source.replace(/^\/+/, './')), folder, intoFolder)
  }

  /** The path in the context of a path in the image, if it came from there. */
  sourceOf(path: string): string | undefined {
    const wanted = posix.resolve(this.workdir, path)
    const place = this.#placed
      .filter(
        (placed) =>
          wanted === placed.path || wanted.startsWith(placed.path === '/' ? '/' : `${placed.path}/`),
      )
      // The nearest counts, and of those the last.
      .reduce<Placed | undefined>(
        (best, next) => (best === undefined || next.path.length >= best.path.length ? next : best),
        undefined,
      )
    if (place !== undefined) return posix.join(place.source, posix.relative(place.path, wanted))
    // A folder that only has single files in it.
    const inside = this.#placed.find((placed) => posix.dirname(placed.path) === wanted)
    return inside === undefined ? undefined : posix.dirname(inside.source)
  }

  #place(source: string, target: string, intoFolder: boolean): void {
    if (source.includes('*') || source.includes('?')) {
      this.#placed.push({ path: target, source: posix.dirname(source) })
    } else if (this.#isFolder(source)) {
      // The content of a folder is copied, not the folder.
      this.#placed.push({ path: target, source: posix.join(source, '.').replace(/\/$/, '') })
    } else {
      this.#placed.push({ path: intoFolder ? posix.join(target, posix.basename(source)) : target, source })
    }
  }

  #isPlaced(folder: string): boolean {
    return folder === this.workdir || this.#placed.some(({ path }) => path === folder && this.#isFolder(path))
  }

  #text(step: StagedStep, word: string): string {
    return substitute(word, step.variables) ?? word
  }
}
