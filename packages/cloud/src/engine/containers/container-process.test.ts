import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ContainerProcess } from './container-process.ts'
import { ContainerTool } from './container-tool.ts'

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
