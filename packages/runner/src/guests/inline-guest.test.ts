import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LogCapture } from '../testing/log-capture.ts'
import { InlineGuest } from './inline-guest.ts'

describe('a guest in this process', () => {
  let folder: string
  let count = 0
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'botcli-inline-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  async function start(source: string, unwanted = new AbortController().signal): Promise<InlineGuest> {
    count += 1
    const path = join(folder, `bot-${count}.mjs`)
    await writeFile(path, source)
    return InlineGuest.start({ kind: 'javascript', url: pathToFileURL(path).href, version: 3 }, unwanted)
  }

  it('ends as a spare', async () => {
    const guest = await start('export const bot = () => {}')
    expect(guest.version).toBe(3)
    await guest.stop(0)
    expect(await guest.exited).toMatchObject({ outOfMemory: false })
  })

  it('ends when its link is destroyed by whoever holds it', async () => {
    const guest = await start('export const bot = () => {}')
    guest.release(new LogCapture().logger).destroy()
    await guest.exited
    await guest.stop(0)
  })

  it('says why it could not load', async () => {
    await expect(start(`throw new Error('not in here')`)).rejects.toMatchObject({
      code: 'bot_load_failed',
      message: expect.stringContaining('not in here'),
    })
    await expect(start('export const other = 1')).rejects.toThrow('`bot`')
  })

  it('is not waited for when nobody wants it any more', async () => {
    const unwanted = new AbortController()
    const loading = start('await new Promise(() => {})', unwanted.signal)
    setTimeout(() => unwanted.abort(), 50)
    await expect(loading).rejects.toMatchObject({ code: 'bot_load_failed' })
  })
})
