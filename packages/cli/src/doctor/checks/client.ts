import { join } from 'node:path'
import { exists, readText } from '../files.ts'
import { type Finding, fault, ok, warning } from '../finding.ts'
import { whoListens } from '../listener.ts'
import type { Subject } from '../subject.ts'

/** Where the servers listen that clients are made with. */
const DEFAULT_PORTS = [
  [/\bnext dev\b/, 3000],
  [/\bvite\b/, 5173],
] as const

/** Whether the packages of the client are there. */
export async function checkClient({ project, shell }: Subject): Promise<Finding | undefined> {
  const client = join(project.folder, 'client')
  if (!(await exists(join(client, 'package.json')))) return undefined
  if (await exists(join(client, 'node_modules'))) return ok('its packages are installed')
  const isLocked = await exists(join(client, 'package-lock.json'))
  const fix = shell.inFolder(client, isLocked ? 'npm ci' : 'npm install')
  return fault('its packages are not installed', fix)
}

/** Whether the port is free on which the client is served while one works on it. */
export async function checkClientPort({ project, signal }: Subject): Promise<Finding | undefined> {
  const port = devPort(await readText(join(project.folder, 'client/package.json')))
  if (port === undefined) return undefined
  const { taken } = await whoListens(port, '/', signal)
  return taken
    ? warning(`${port} is taken, perhaps by this client; if not, "npm run dev" takes the next one`)
    : ok(`${port} is free`)
}

/** The port of the script `dev`, if it can be told. */
export function devPort(text: string | undefined): number | undefined {
  const script = devScript(text)
  if (script === undefined) return undefined
  const [, given] = /(?:--port|-p)[ =](\d{1,5})\b/.exec(script) ?? []
  const known = DEFAULT_PORTS.find(([command]) => command.test(script))?.[1]
  return known === undefined || given === undefined ? known : Number(given)
}

function devScript(text: string | undefined): string | undefined {
  try {
    const { scripts } = JSON.parse(text ?? '{}') as { scripts?: { dev?: unknown } }
    return typeof scripts?.dev === 'string' ? scripts.dev : undefined
  } catch {
    return undefined
  }
}
