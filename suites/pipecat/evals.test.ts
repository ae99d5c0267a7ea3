import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { House } from './house.ts'
import { withPipecat } from './with-pipecat.ts'

const run = promisify(execFile)

withPipecat('the published eval harness', (python) => {
  it.each(['stock_bot.py', 'pipeline_bot.py'])(
    'passes its scenarios against %s, a fresh bot for each',
    async (bot) => {
      const house = await House.start(python, bot)
      const folder = await mkdtemp(join(tmpdir(), 'botcli-evals-'))
      try {
        const url = `${house.runner.url.replace('http', 'ws')}/ws`
        const scenarios = join(import.meta.dirname, 'evals/story.yaml')
        const pipecat = join(dirname(python), 'pipecat')
        const { stdout } = await run(
          pipecat,
          ['eval', 'run', scenarios, '--bot-url', url, '--logs-dir', folder],
          {
            cwd: folder,
            env: { ...process.env, NO_COLOR: '1', COLUMNS: '200' },
          },
        )
        expect(stdout).toMatch(/greets/)
        const started = house.runner.log.lines.filter((line) => line.msg === 'bot started')
        expect(started.map((line) => line.transport)).toEqual(['eval', 'eval'])
      } finally {
        await house.close()
        await rm(folder, { recursive: true, force: true })
      }
    },
  )
})
