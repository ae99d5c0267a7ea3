import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

/** What is in a file; `->` in front makes a link, `#!` a file that can be run. */
export type Tree = Readonly<Record<string, string | Uint8Array>>

/** A folder with these files, gone after the test. */
export async function folderWith(tree: Tree): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'botcli-folder-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  for (const [path, content] of Object.entries(tree)) await put(join(folder, path), content)
  return folder
}

async function put(file: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  if (typeof content === 'string' && content.startsWith('->')) {
    await symlink(content.slice(2), file)
    return
  }
  await writeFile(file, content)
  if (typeof content === 'string' && content.startsWith('#!')) await chmod(file, 0o755)
}
