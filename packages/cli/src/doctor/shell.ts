import { relative } from 'node:path'
import { quoteForShell } from '@botcli/scaffold'

/** Spells commands so that they can be pasted where the user is. */
export class Shell {
  readonly #cwd: string

  constructor(cwd: string) {
    this.#cwd = cwd
  }

  /** A path as a word of a command. */
  path(path: string): string {
    const near = relative(this.#cwd, path)
    // Far away the whole path is the plainer one.
    return quoteForShell(near === '' ? '.' : near.startsWith('../..') ? path : near)
  }

  /** A command that has to be run in a folder. */
  inFolder(folder: string, command: string): string {
    const place = this.path(folder)
    return place === '.' ? command : `(cd ${place} && ${command})`
  }
}
