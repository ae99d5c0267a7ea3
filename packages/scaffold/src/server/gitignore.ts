import type { Configuration } from '../configuration.ts'

/** `.gitignore`: rules for Python are held to `server/`, so that nothing of the client is hidden. */
export function gitignore({ clientFramework, evals, recording }: Configuration): string {
  const server = [
    '# Server',
    '.env',
    '.env.*',
    '!.env.example',
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
  ]
  return lines.join('\n')
}
