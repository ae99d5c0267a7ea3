import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildProgram } from '../../testing/instance-bench.ts'

let program: string

beforeAll(() => {
  program = buildProgram('lonely-starter')
})

afterAll(async () => {
  await rm(program, { force: true })
})

it.skipIf(!existsSync('/proc/self/fdinfo') || !existsSync('/bin/bash'))(
  'keeps what its process was started with from a child, and gives it what is meant for it',
  async () => {
    // Node marks the first of these itself.
    const script = `exec 3>&1 5>&1 20>&1 251>&1; exec ${JSON.stringify(process.execPath)} ${JSON.stringify(program)}`
    const shell = spawn('/bin/bash', ['-c', script], { stdio: ['ignore', 'pipe', 'inherit'] })
    const { plain, alone } = JSON.parse(await text(shell.stdout))
    expect(plain).toContain('251 open')
    expect(alone).toEqual(expect.arrayContaining(['0 null', '20 null', '251 null']))
    // The third is meant for it.
    expect(alone.filter((line: string) => line.endsWith('open'))).toEqual(['1 open', '2 open', '3 open'])
  },
)
