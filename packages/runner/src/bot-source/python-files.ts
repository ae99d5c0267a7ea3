import { createHash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

const MAX_FILES = 1000
const MAX_FOLDERS = 200
const MAX_FILE_BYTES = 4 * 1024 * 1024
/** Folders that hold other people's code, or none. */
const PASSED_OVER = /^(?:\..*|__pycache__|node_modules|site-packages)$/
/** What marks a virtual environment, whatever its name. */
const ENVIRONMENT_MARK = 'pyvenv.cfg'

/** The Python files of a project, and the folders in which more could appear. */
export interface PythonFiles {
  readonly files: readonly string[]
  readonly folders: readonly string[]
}

/** Looks through a folder, and through its folders unless only the folder itself is meant. */
export async function pythonFilesIn(
  root: string,
  { deep }: { readonly deep: boolean },
): Promise<PythonFiles> {
  const files: string[] = []
  const folders: string[] = []
  const waiting = [root]
  while (waiting.length > 0 && folders.length < MAX_FOLDERS) {
    const folder = waiting.shift() ?? root
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
    if (entries.some(({ name }) => name === ENVIRONMENT_MARK)) continue
    folders.push(folder)
    for (const entry of entries) {
      if (entry.isDirectory()) {
        if (deep && !PASSED_OVER.test(entry.name)) waiting.push(join(folder, entry.name))
      } else if (entry.name.endsWith('.py') && files.length < MAX_FILES) files.push(join(folder, entry.name))
    }
  }
  return { files, folders }
}

/** What is in these files, in a form that can be compared. A file that is not there has an empty text. */
export async function contentsOf(files: Iterable<string>): Promise<Map<string, string>> {
  const contents = new Map<string, string>()
  for (const file of files) contents.set(file, await contentOf(file))
  return contents
}

async function contentOf(file: string): Promise<string> {
  try {
    const { size, mtimeMs } = await stat(file)
    if (size > MAX_FILE_BYTES) return `${size} ${mtimeMs}`
    return createHash('sha256')
      .update(await readFile(file))
      .digest('base64')
  } catch {
    return ''
  }
}
