import { dirname } from 'node:path/posix'
import { clientFiles } from '../client/index.ts'
import type { Configuration } from '../configuration.ts'
import { wheelPath } from './wheel.ts'

/** `.gitignore`: rules for Python are held to `server/`, so that nothing of the client is hidden. */
export function gitignore(configuration: Configuration): string {
  const { clientFramework, evals, recording } = configuration
  const server = [
    '# Server',
    '.env',
    '.env.*',
    '/server/.venv/',
    '/server/build/',
    '/server/dist/',
    '__pycache__/',
    '.ruff_cache/',
    ...(recording ? ['/server/recordings/'] : []),
  ]
  const evalRuns = [
    '',
    '# Evals',
    '*.eval.log',
    '*.debug.log',
    '*.conversation.json',
    'judged.jsonl',
    '/server/eval-runs/',
    '/server/recordings/',
  ]
  const client = [
    '',
    '# Client',
    '/client/node_modules/',
    '/client/dist/',
    '/client/.next/',
    '/client/out/',
    '/client/next-env.d.ts',
    '*.tsbuildinfo',
  ]
  const lines = [
    ...server,
    ...(evals ? evalRuns.filter((line) => !recording || line !== '/server/recordings/') : []),
    ...(clientFramework === 'none' ? [] : client),
    '',
    '# Machines',
    '.DS_Store',
    '',
    '# Part of this project, whatever a list above it hides',
    ...ours(configuration),
    '',
  ]
  return lines.join('\n')
}

/**
 * Lists for Python and Node hide folders like `lib/` and `wheels/`, wherever they are. An exception holds for what
 * stands before it, so these are the last; and they are no wider than they need be, since others hide secrets.
 */
function ours(configuration: Configuration): readonly string[] {
  const client = clientFiles(configuration).map(({ path }) => path)
  const server = [wheelPath(), 'server/tests/', ...(configuration.evals ? ['server/evals/'] : [])]
  const folders = new Set([...server.map(folderOf), ...client.map(folderOf)].flatMap(withParents))
  return [
    ...[...folders].sort().map((folder) => `!/${folder}/`),
    `!/${folderOf(wheelPath())}/*.whl`,
    '!.env.example',
    ...(client.length === 0 ? [] : ['!/client/package-lock.json']),
  ]
}

function folderOf(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : dirname(path)
}

/** A folder and those around it: git does not look into one that is hidden. */
function withParents(folder: string): readonly string[] {
  return folder === '.' ? [] : [...withParents(dirname(folder)), folder]
}
