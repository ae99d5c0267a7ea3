import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ContextError } from './context-error.ts'
import { extraPattern } from './extra-pattern.ts'
import { IgnoreRules } from './ignore-rules.ts'

/**
 * What is left out where there is no ignore file: what tools make again, and what belongs to the machine. Names that are also names of
 * packages (`build`, `dist`, `env`) are not in it; virtual environments are known by what is in them.
 */
const DEFAULTS = `**/.git
**/.gitignore
**/.gitattributes
**/.github
**/.hg
**/.svn
**/.venv
**/__pycache__
**/*.py[cod]
**/*.egg-info
**/.pytest_cache
**/.mypy_cache
**/.ruff_cache
**/.tox
**/.nox
**/.hypothesis
**/.coverage
**/htmlcov
**/.ipynb_checkpoints
**/node_modules
**/.next
**/.turbo
**/.cache
**/.idea
**/.vscode
**/.claude
**/.codex
**/.cursor
**/.DS_Store
**/Thumbs.db
**/*.log
deploy.toml
`

/** Which rules hold for a context, and where they are from. */
export interface IgnoreFile {
  /** The file inside of the context; nothing if there is none and the defaults hold. */
  readonly path: string | undefined
  readonly rules: IgnoreRules
}

/** Finds the ignore file of a context: that of the container build file wins over the one of all. What else is excluded comes on top. */
export async function findIgnoreFile(
  folder: string,
  dockerfile: string,
  exclude: readonly string[] = [],
): Promise<IgnoreFile> {
  const extra = exclude.map(extraPattern)
  for (const path of [`${dockerfile}.dockerignore`, '.dockerignore']) {
    const text = await read(join(folder, path), path)
    if (text !== undefined) return { path, rules: IgnoreRules.parse(text, path).and(extra) }
  }
  return { path: undefined, rules: IgnoreRules.parse(DEFAULTS, 'defaults').and(extra) }
}

async function read(file: string, path: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new ContextError(
      'UNREADABLE',
      `${path} cannot be read (${code}). Make it a readable file or remove it.`,
    )
  }
}
