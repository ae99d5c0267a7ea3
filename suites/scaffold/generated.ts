import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Configuration } from '../../packages/scaffold/src/configuration.ts'
import { rootFiles, serverFiles } from '../../packages/scaffold/src/server/index.ts'

/** Writes a project, without its wheel and its client, and gives the folder of its server. */
export async function generate(folder: string, configuration: Configuration): Promise<string> {
  for (const { path, content } of [...serverFiles(configuration), ...rootFiles(configuration)]) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), content)
  }
  return join(folder, 'server')
}
