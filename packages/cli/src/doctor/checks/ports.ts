import { join } from 'node:path'
import { readText } from '../files.ts'
import { type Finding, fault, ok } from '../finding.ts'
import { whoListens } from '../listener.ts'
import type { Subject } from '../subject.ts'
import { isBlank, readVariables } from './keys.ts'

const CALL_SERVER_PORT = 8080

/** Whether the runner's port is free, or a runner is there already. */
export async function checkRunnerPort({ port, signal }: Pick<Subject, 'port' | 'signal'>): Promise<Finding> {
  const { taken, said } = await whoListens(port, '/status', signal)
  if (!taken) return ok(`${port} is free`)
  if (isReady(said) && 'transports' in said) return ok(`${port} has a runner, which answers`)
  const other = port === 65_535 ? port - 1 : port + 1
  return fault(`${port} is taken by another program`, `botcli run --port ${other}`)
}

/** Whether the port of the call server is free, if the project has one, or it is there already. */
export async function checkCallServerPort({
  project,
  env,
  shell,
  signal,
}: Subject): Promise<Finding | undefined> {
  const program = await readText(join(project.server, 'server.py'))
  if (!program?.includes('CALL_SERVER_PORT')) return undefined
  const file = join(project.server, '.env')
  const given = readVariables(await readText(file)).CALL_SERVER_PORT
  const text = [env.CALL_SERVER_PORT, given].find((value) => !isBlank(value)) ?? String(CALL_SERVER_PORT)
  const port = Number(text)
  // What the environment has wins over the file.
  const place = isBlank(env.CALL_SERVER_PORT) ? shell.path(file) : 'the environment'
  const change = `In ${place}, set CALL_SERVER_PORT to another number`
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    return fault('CALL_SERVER_PORT must be a number from 1 to 65535', change)
  }
  const { taken, said } = await whoListens(port, '/health', signal)
  if (!taken) return ok(`${port} is free`)
  return isReady(said)
    ? ok(`${port} has the call server, which answers`)
    : fault(`${port} is taken by another program`, change)
}

function isReady(said: unknown): said is object {
  return typeof said === 'object' && said !== null && 'status' in said && said.status === 'ready'
}
