import { spawn } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { identify } from '../process-identity.ts'
import { ContainerProcess } from './container-process.ts'
import { ContainerTool } from './container-tool.ts'

/** An engine that never comes to make the container, and writes down what it was asked. */
const ENGINE = `#!/bin/sh
echo "$1" >> "$(dirname "$0")/asked"
[ "$1" = run ] && exec sleep 1000
echo 'Error: no such container' >&2
exit 1
`

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'botcli-container-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** How a container ended, of which its engine says this. */
async function exitOf(state: { readonly ExitCode: number; readonly OOMKilled: boolean }) {
  const told = JSON.stringify({ Status: 'exited', Running: false, Pid: 0, ...state })
  const engine = join(folder, 'engine')
  await writeFile(engine, `#!/bin/sh\necho '${told}'\n`)
  await chmod(engine, 0o755)
  const run = { kind: 'container' as const, command: [engine], name: 'one', client: null }
  return await new ContainerProcess(new ContainerTool('engine', [engine]), run, undefined).exited
}

it('tells that a container was ended because its memory was used up', async () => {
  const exit = await exitOf({ ExitCode: 137, OOMKilled: true })
  expect(exit).toEqual({ code: null, signal: 'SIGKILL', outOfMemory: true })
})

it('does not take a bot that was ended for want of memory for the end of its container', async () => {
  expect(await exitOf({ ExitCode: 0, OOMKilled: true })).toEqual({
    code: 0,
    signal: null,
    outOfMemory: false,
  })
  expect(await exitOf({ ExitCode: 1, OOMKilled: true })).toMatchObject({ code: 1, outOfMemory: false })
  expect(await exitOf({ ExitCode: 137, OOMKilled: false })).toMatchObject({ outOfMemory: false })
})

it('a container that is never made is given up when its grace is over, with the program that was to make it', async () => {
  const program = join(folder, 'engine')
  await writeFile(program, ENGINE)
  await chmod(program, 0o755)
  const child = spawn(program, ['run'], { stdio: 'ignore' })
  const client = identify(child.pid ?? 0) ?? null
  const run = { kind: 'container' as const, command: [program], name: 'botcli-x', client }
  const container = new ContainerProcess(new ContainerTool('engine', [program]), run, child)
  await container.stop(500)
  expect(child.signalCode).toBe('SIGKILL')
  expect(await container.exited).toMatchObject({ outOfMemory: false })
  const asked = (await readFile(join(folder, 'asked'), 'utf8')).trim().split('\n')
  expect(asked.filter((word) => word === 'stop').length).toBeLessThan(20)
  expect(asked).toContain('rm')
})
