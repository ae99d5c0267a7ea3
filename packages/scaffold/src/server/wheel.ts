import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PACKAGE_ROOT } from '../package-root.ts'

let version: string | undefined

/** The version of botcli, which is also that of its Python package. */
export function botcliVersion(): string {
  if (version === undefined) {
    const text = readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8')
    const own: { version: string } = JSON.parse(text)
    version = own.version
  }
  return version
}

/** The name of the file with our Python package. */
export function wheelName(): string {
  return `botcli-${botcliVersion()}-py3-none-any.whl`
}

/** Where a project keeps it. Whoever has the file adds it to the plan. */
export function wheelPath(): string {
  return `server/wheels/${wheelName()}`
}
