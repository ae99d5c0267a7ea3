import { relative } from 'node:path'
import { quoteForShell, targetArgument } from '@botcli/scaffold'

/** Spells commands so that they can be pasted where the user is. */
export class Shell {
  readonly #cwd: string

  constructor(cwd: string) {
    this.#cwd = cwd
  }

  /** A path as a word of a command. */
  path(path: string): string {
    return quoteForShell(this.#near(path))
  }

  /** A folder as what `botcli init` is to work in. */
  target(folder: string): string {
    return quoteForShell(targetArgument(this.#near(folder)))
  }

  /** A command that has to be run in a folder. */
  inFolder(folder: string, command: string): string {
    const place = this.path(folder)
    return place === '.' ? command : `(cd ${place} && ${command})`
  }

  #near(path: string): string {
    const near = relative(this.#cwd, path)
    // Far away the whole path is the plainer one.
    return near === '' ? '.' : near.startsWith('../..') ? path : near
  }
}
