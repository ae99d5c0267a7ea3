import { access } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { BuildInput } from '../builder.ts'

/** The file in which a Python project names its packages, if there is one. */
export async function requirementsFile({
  context,
  dockerfilePath,
}: Pick<BuildInput, 'context' | 'dockerfilePath'>): Promise<string | undefined> {
  for (const name of ['requirements.txt', 'pyproject.toml'])
    for (const folder of new Set([context, join(context, dirname(dockerfilePath))]))
      if (await isThere(join(folder, name))) return name
  return undefined
}

async function isThere(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  )
}
