import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { RunnerError } from '../errors.ts'

/** What the build puts into this package: what Python bots import, and the same as a wheel. */
const CARRIED = fileURLToPath(new URL('../../dist/python', import.meta.url))
/** The source, in the repository. It needs no build. */
const SOURCE = fileURLToPath(new URL('../../../../python/src', import.meta.url))

/** The folder from which Python imports our package. */
export function findPythonPackage(): string {
  return existsSync(join(SOURCE, 'botcli/guest/__main__.py')) ? SOURCE : CARRIED
}

/** The wheel, for projects that install our package. */
export function findPythonWheel(): string {
  const name = existsSync(CARRIED) ? readdirSync(CARRIED).find((file) => file.endsWith('.whl')) : undefined
  if (name !== undefined) return join(CARRIED, name)
  throw new RunnerError('start_failed', `there is no wheel in ${CARRIED}; npm run build makes it`)
}
