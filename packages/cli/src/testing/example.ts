import { cp } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'

const EXAMPLES = resolve(import.meta.dirname, '../../../../examples')
/** What those who run an example leave in its folder, and take away again while somebody copies it. */
const LEFT_BEHIND: ReadonlySet<string> = new Set(['.botcli', '__pycache__'])

/** Copies one of the examples as it is in the repository. */
export function copyExample(name: string, folder: string): Promise<void> {
  const filter = (path: string) => !LEFT_BEHIND.has(basename(path))
  return cp(join(EXAMPLES, name), folder, { recursive: true, filter })
}
