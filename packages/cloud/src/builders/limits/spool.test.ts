import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Spool } from './spool.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'botcli-spool-'))
})
afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

it('gives everything in order, although nobody read while it was written', async () => {
  let text = ''
  const spool = await Spool.open(join(folder, 'output'), (bytes) => {
    text += Buffer.from(bytes).toString()
  })
  const child = spawn('sh', ['-c', 'seq 1 60000; echo and this >&2; printf end'], {
    stdio: ['ignore', spool.fd, spool.fd],
  })
  const end = performance.now() + 500
  while (performance.now() < end);
  await once(child, 'exit')
  await spool.close()
  const numbers = Array.from({ length: 60_000 }, (_, index) => `${index + 1}\n`).join('')
  expect(text).toBe(`${numbers}and this\nend`)
})

it('gives what is there while the command goes on', async () => {
  let child: ReturnType<typeof spawn> | undefined
  const seen = new Promise<string>((resolve) => {
    void Spool.open(join(folder, 'output'), (bytes) => resolve(Buffer.from(bytes).toString())).then(
      (spool) => {
        child = spawn('sh', ['-c', 'echo first; exec sleep 60'], { stdio: ['ignore', spool.fd, spool.fd] })
        child.once('exit', () => void spool.close())
      },
    )
  })
  expect(await seen).toBe('first\n')
  child?.kill()
})
