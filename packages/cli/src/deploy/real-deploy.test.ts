import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { BotCloud } from '../testing/bot-cloud.ts'
import { copyExample } from '../testing/example.ts'
import { folderWith } from '../testing/folder.ts'
import { typed } from '../testing/typed-command.ts'

const EXAMPLES = resolve(import.meta.dirname, '../../../../examples')
const LIMIT_MS = 240_000

describe('the examples, deployed as they are to a real cloud', () => {
  it.each([
    ['echo', 'telephony_a'],
    ['echo-python', 'telephony_b'],
  ])(
    '%s takes a call of %s',
    async (name, carrier) => {
      const { env, url } = await BotCloud.start()
      const deployed = await typed(['deploy'], { env, cwd: join(EXAMPLES, name) })
      expect(deployed).toMatchObject({ code: 0 })
      expect(deployed.stderr).toContain(`POST ${url}/v1/public/${name}/start`)
      const argv = ['call', '--agent', name, '--as', carrier, '--speech', '500ms', '--for', '30s']
      const called = await typed(argv, { env })
      expect(called).toMatchObject({ code: 0, stdout: expect.stringContaining('The bot was heard.') })
      const [, id = ''] = /Session (\S+) of/.exec(called.stdout) ?? []
      const followed = await typed(['session', 'logs', '-f', name, id.slice(0, 8)], { env })
      expect(followed.stdout).toContain('caller connected')
      expect(followed.stderr).toContain('[client_left]')
      expect(followed.code).toBe(0)
      expect((await typed(['deploy'], { env, cwd: join(EXAMPLES, name) })).stderr).toContain(
        'Nothing has changed.',
      )
    },
    LIMIT_MS,
  )
})

describe('a bot in a real cloud', () => {
  it(
    'that fails when it is loaded shows its traceback, and the one before goes on; it is rolled back, scaled, promoted and removed',
    async () => {
      const { env } = await BotCloud.start()
      const cwd = await folderWith({})
      await copyExample('echo-python', cwd)
      const run = (...argv: readonly string[]) => typed(argv, { env, cwd })
      expect((await run('deploy')).code).toBe(0)
      expect((await run('agent', 'scale', 'echo-python', '--max', '2')).code).toBe(0)
      const bot = join(cwd, 'bot.py')
      const right = await readFile(bot, 'utf8')
      await writeFile(bot, `${right}\nKEY = {}["OPENAI_API_KEY"]\n`)
      const failed = await run('deploy')
      expect(failed.code).toBe(1)
      expect(failed.stderr).toContain("KeyError: 'OPENAI_API_KEY'")
      expect(failed.stderr).toMatch(/Deployment 2 of echo-python failed after .* \[DEPLOY-START-FAILED\]/)
      expect(failed.stderr).toContain('Deployment 1 still takes sessions.')
      expect((await run('agent', 'list')).stdout).toContain('update failed')
      await writeFile(bot, `${right}\nNEW = 1\n`)
      expect((await run('deploy')).stderr).toContain('Deployment 3 of echo-python takes sessions')
      expect((await run('agent', 'rollback', 'echo-python')).stderr).toContain(
        'Deployment 4 of echo-python takes',
      )
      expect((await run('deploy', '--agent', 'other', '--min', '0')).code).toBe(0)
      const promoted = await run('agent', 'promote', 'echo-python', 'other')
      expect(promoted.stderr).toContain('Deployment 2 of other takes sessions')
      const started = await run('session', 'start', 'other', '-t', 'websocket', '--json')
      const { sessionId } = JSON.parse(started.stdout) as { sessionId: string }
      const stopped = await run('session', 'stop', 'other', sessionId.slice(0, 8))
      expect(stopped).toMatchObject({ code: 0, stdout: expect.stringContaining('[stopped]') })
      expect((await run('agent', 'logs', 'other', '--session', sessionId.slice(0, 8))).stdout).toContain(
        'session waits for its caller',
      )
      expect((await run('agent', 'delete', 'other', '--yes')).code).toBe(0)
      expect((await run('agent', 'list')).stdout).not.toContain('other')
    },
    LIMIT_MS,
  )
})
