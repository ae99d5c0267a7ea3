import { MAX_CONTEXT_DEPTH, MAX_CONTEXT_ENTRIES, MAX_CONTEXT_PATH } from '@botcli/protocol/cloud'
import { CloudError } from '../../errors.ts'

/**
 * The paths of a context that is being read. It refuses what could reach outside of the context's folder, whatever order it comes in: every
 * folder above an entry is a real one, and a link goes up only at its beginning and never above the context.
 */
export class ContextTree {
  readonly #kinds = new Map<string, 'file' | 'folder' | 'link'>()
  #entries = 0

  /** Takes in a folder. */
  addFolder(name: string): string {
    const path = this.#take(name)
    if (path === '') return path
    if ((this.#kinds.get(path) ?? 'folder') !== 'folder') throw twice(path)
    this.#addParents(path)
    this.#kinds.set(path, 'folder')
    return path
  }

  /** Takes in a file. */
  addFile(name: string): string {
    return this.#addLeaf(name, 'file')
  }

  /** Takes in a link. */
  addLink(name: string, target: string): string {
    const path = this.#addLeaf(name, 'link')
    const parts = target.split('/').filter((part) => part !== '' && part !== '.')
    const ups = parts.findIndex((part) => part !== '..')
    const up = ups < 0 ? parts.length : ups
    const depth = path.split('/').length - 1
    if (target === '' || target.startsWith('/') || up > depth || parts.slice(up).includes('..')) {
      throw invalid(`${shown(path)} is a link to ${shown(target)}, which leads out of the context, or may`)
    }
    if (hasControl(target)) throw invalid(`${shown(path)} is a link to a path with control characters`)
    return path
  }

  #addLeaf(name: string, kind: 'file' | 'link'): string {
    const path = this.#take(name)
    if (path === '' || this.#kinds.has(path)) throw twice(path)
    this.#addParents(path)
    this.#kinds.set(path, kind)
    return path
  }

  #take(name: string): string {
    this.#entries += 1
    if (this.#entries > MAX_CONTEXT_ENTRIES)
      throw tooLarge(`it has more than ${MAX_CONTEXT_ENTRIES} files, links and folders`)
    const parts = name.split('/').filter((part) => part !== '' && part !== '.')
    if (name.startsWith('/') || parts.includes('..')) {
      throw invalid(`${shown(name)} is outside of the context`)
    }
    if (hasControl(name)) throw invalid(`${shown(name)} has control characters in its name`)
    if (name.length > MAX_CONTEXT_PATH || parts.length > MAX_CONTEXT_DEPTH)
      throw invalid(`${shown(name)} is too long a path`)
    return parts.join('/')
  }

  #addParents(path: string): void {
    for (let end = path.indexOf('/'); end >= 0; end = path.indexOf('/', end + 1)) {
      const parent = path.slice(0, end)
      const kind = this.#kinds.get(parent)
      if (kind === undefined) this.#kinds.set(parent, 'folder')
      else if (kind !== 'folder')
        throw invalid(`${shown(path)} is inside of ${shown(parent)}, which is a ${kind}`)
    }
  }
}

/** A context that is refused, and why. */
export function invalid(why: string, cause?: unknown): CloudError {
  return new CloudError('INVALID_REQUEST', `uploadId: the context cannot be used: ${why}.`, { cause })
}

/** A context that is too large, and why. */
export function tooLarge(why: string): CloudError {
  return new CloudError('PAYLOAD_TOO_LARGE', `uploadId: the context is too large: ${why}.`)
}

/** A path in a message. */
export function shown(path: string): string {
  return JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path)
}

function twice(path: string): CloudError {
  return invalid(`${shown(path)} is in it twice`)
}

function hasControl(path: string): boolean {
  return /\p{Cc}/u.test(path)
}
