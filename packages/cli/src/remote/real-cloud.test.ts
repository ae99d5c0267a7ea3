import { describe, expect, it } from 'vitest'
import { folderWith } from '../testing/folder.ts'
import { RealCloud } from '../testing/real-cloud.ts'
import { TypedCommand, typed } from '../testing/typed-command.ts'

const LINES = Array.from({ length: 300 }, (_, index) => `ECHO ${index} "☺"`)

describe('against a real cloud', () => {
  it('a build succeeds, and is taken again', async () => {
    const { env } = await RealCloud.start()
    const cwd = await folderWith({
      Dockerfile: `${LINES.join('\n')}\n`,
      'run.sh': '#!/bin/sh',
      link: '->run.sh',
      'a/b': '',
    })
    const { code, stdout, stderr } = await typed(['build', 'create'], { env, cwd })
    expect(stdout.split('\n')).toEqual(expect.arrayContaining(LINES))
    expect(stderr).toMatch(/Build \S+ succeeded after .*\n {2}image {2}lines:/)
    // The cloud counts the context as the command does.
    expect(stderr).not.toContain('another hash')
    expect(stderr).not.toContain('not all of it was shown')
    expect(code).toBe(0)
    const again = await typed(['build', 'create', '--json'], { env, cwd })
    expect(again.code).toBe(0)
    const outcome = JSON.parse(again.stdout.trim().split('\n').at(-1) ?? '') as { build: { id: string } }
    expect(outcome).toMatchObject({ type: 'outcome', status: 'success', cached: true })
    const { id } = outcome.build
    expect((await typed(['build', 'list', '--status', 'success'], { env })).stdout).toContain(id)
    expect((await typed(['build', 'get', id], { env })).stdout).toContain('status      success')
    const log = await typed(['build', 'logs', id, '-n', '1000'], { env })
    expect(log.stdout).toBe(stdout)
    expect((await typed(['build', 'logs', id, '-n', '2'], { env })).stderr).toContain(
      'older lines are not shown',
    )
    expect(await typed(['build', 'logs', '-f', id], { env })).toMatchObject({ code: 0, stdout })
  })

  it('a build fails, and it is told where and why', async () => {
    const { env } = await RealCloud.start()
    const cwd = await folderWith({ Dockerfile: 'ECHO\nFAIL badly\n' })
    const { code, stdout, stderr } = await typed(['build', 'create'], { env, cwd })
    expect(code).toBe(1)
    expect(stdout).toContain('FAIL badly')
    expect(stderr).toMatch(
      /\[command_failed\]\.\n(?: {2}why .*\n)? {2}step {3}FAIL badly\n {2}where {2}Dockerfile, line 2\n {2}hint {3}Do not\.\n$/,
    )
  })

  it('a line that is cut again and again loses nothing', async () => {
    const cloud = await RealCloud.start()
    const lines = LINES.slice(0, 40).flatMap((line) => [line, 'PAUSE 25'])
    const cwd = await folderWith({ Dockerfile: lines.join('\n') })
    const command = new TypedCommand(['build', 'create'], { env: cloud.env, cwd })
    for (const index of [3, 12, 21]) {
      await command.see(`ECHO ${index} `)
      cloud.cut()
    }
    expect(await command.ended).toBe(0)
    expect(command.stdoutText.split('\n').filter((line) => /^(?:ECHO|PAUSE)/.test(line))).toEqual(lines)
    expect(command.stderrText.match(/connected again/g)?.length).toBeGreaterThanOrEqual(3)
    expect(command.stderrText).not.toContain('not all of it was shown')
  })

  it('a build ends with the cloud that did it, and the command with the build', async () => {
    const cloud = await RealCloud.start()
    const cwd = await folderWith({ Dockerfile: 'ECHO 1\nSLEEP\n' })
    const command = new TypedCommand(['build', 'create'], { env: cloud.env, cwd })
    await command.see('SLEEP')
    cloud.cut()
    await cloud.restart()
    await command.see('connected again')
    expect(await command.ended).toBe(1)
    expect(command.stderrText).toContain('[builder_lost]')
  })

  it('Ctrl-C cancels', async () => {
    const { env } = await RealCloud.start()
    const cwd = await folderWith({ Dockerfile: 'ECHO 1\nSLEEP\n' })
    const command = new TypedCommand(['build', 'create', '--json'], { env, cwd })
    await command.see('SLEEP')
    command.emit('SIGINT')
    expect(await command.ended).toBe(130)
    expect(command.events.at(-1)).toMatchObject({
      status: 'failed',
      build: { failure: { code: 'cancelled' } },
    })
  })

  it('a detached build goes on until it is cancelled', async () => {
    const { env } = await RealCloud.start()
    const cwd = await folderWith({ Dockerfile: 'SLEEP\n' })
    const { code, stdout } = await typed(['build', 'create', '--detach'], { env, cwd })
    expect(code).toBe(0)
    const id = stdout.trim()
    const cancelled = await typed(['build', 'cancel', id, '--json'], { env })
    expect(JSON.parse(cancelled.stdout)).toMatchObject({
      cancelled: true,
      build: { failure: { code: 'cancelled' } },
    })
    expect((await typed(['build', 'cancel', id], { env })).code).toBe(1)
    expect((await typed(['build', 'get', id], { env })).code).toBe(0)
  })

  it('what the cloud refuses is told as it says it', async () => {
    const { env } = await RealCloud.start()
    const cwd = await folderWith({ Dockerfile: 'ECHO\n' })
    const far = await typed(['build', 'create', '--region', 'far'], { env, cwd })
    expect(far.code).toBe(1)
    expect(far.stderr).toMatch(/botcli build create: .*region.*local/)
    const wrong = await typed(['build', 'list'], { env: { ...env, BOTCLI_API_KEY: 'sk_unknown_key' } })
    expect(wrong.code).toBe(1)
    expect(wrong.stderr).toMatch(/: botcli cloud --new-key\nIt is the one in BOTCLI_API_KEY\.\n/)
  })

  it('keys, secrets and signing in', async () => {
    const { env } = await RealCloud.start()
    const home = { HOME: await folderWith({}) }
    const made = await typed(['keys', 'create', 'for CI'], { env })
    expect(made.stdout).toMatch(/^sk_\S+\n$/)
    const login = await typed(['login', env.BOTCLI_CLOUD_URL ?? ''], { env: home, input: made.stdout })
    expect(login.stdout).toContain('with the key "for CI" (sk_')
    expect(login.code).toBe(0)
    const set = await typed(['secrets', 'set', 'my-bot', '-'], { env: home, input: 'A="hush\n1"\nB=hush2\n' })
    expect({ code: set.code, stderr: set.stderr }).toEqual({ code: 0, stderr: '' })
    expect((await typed(['secrets', 'get', 'my-bot'], { env: home })).stdout).toMatch(
      /^VARIABLE .*\nA .*\nB /,
    )
    expect((await typed(['secrets', 'unset', 'my-bot', 'A'], { env: home })).code).toBe(0)
    const sets = await typed(['secrets', 'list', '--json'], { env: home })
    expect(JSON.parse(sets.stdout)).toMatchObject({ sets: [{ name: 'my-bot', region: 'local' }] })
    expect((await typed(['secrets', 'delete', 'my-bot'], { env: home })).code).toBe(0)
    const revoked = await typed(['keys', 'revoke', 'for CI'], { env: home })
    expect(revoked.stderr).toContain('It was the key that you are signed in with.')
    const ended = await typed(['keys', 'list'], { env: home })
    expect(ended.code).toBe(1)
    expect(ended.stderr).toContain(`Sign in again: botcli login ${env.BOTCLI_CLOUD_URL}`)
    expect((await typed(['keys', 'list'], { env })).stdout).toMatch(/for CI .* revoked /)
  })
})
