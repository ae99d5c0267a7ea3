import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { CloudDouble } from '../testing/cloud-double.ts'
import { TypedCommand, typed } from '../testing/typed-command.ts'

const BIN = fileURLToPath(new URL('../../bin/botcli.js', import.meta.url))
const ID = '00000000-0000-4000-8000-000000000000'

describe('a failure with --json', () => {
  it.each([
    [['build', '--json'], 2, 'USAGE'],
    [['build', 'nope', '--json'], 2, 'USAGE'],
    [['build', 'get', '--json'], 2, 'USAGE'],
    [['build', 'get', 'nope', '--json'], 2, 'USAGE'],
    [['build', 'get', ID, '--json'], 1, 'NOT_FOUND'],
    [['build', 'list', '--json', '--limit', '0'], 2, 'USAGE'],
    [['build', 'list', '--json', '--nope'], 2, 'USAGE'],
    [['build', 'create', '/nonexistent', '--json'], 2, 'USAGE'],
    [['build', 'logs', '-f', ID, '--json'], 1, 'NOT_FOUND'],
    [['build', 'cancel', ID, '--json'], 1, 'NOT_FOUND'],
    [['deploy', '/nonexistent', '--json'], 2, 'USAGE'],
    [['agent', 'get', 'nobody', '--json'], 1, 'NOT_FOUND'],
    [['agent', 'get', 'X', '--json'], 2, 'USAGE'],
    [['agent', 'logs', 'nobody', '-f', '--json'], 1, 'NOT_FOUND'],
    [['agent', 'deployments', 'nobody', '--json'], 1, 'NOT_FOUND'],
    [['agent', 'rollback', 'nobody', '--json'], 1, 'NOT_FOUND'],
    [['agent', 'promote', 'nobody', 'else', '--json'], 1, 'NOT_FOUND'],
    [['agent', 'scale', 'nobody', '--min', '1', '--json'], 1, 'NOT_FOUND'],
    [['agent', 'delete', 'nobody', '--json'], 2, 'USAGE'],
    [['agent', 'delete', 'nobody', '--yes', '--json'], 1, 'NOT_FOUND'],
    [['session', 'start', 'nobody', '--json'], 1, 'NOT_SIGNED_IN'],
    [['session', 'list', 'nobody', '--json'], 1, 'NOT_FOUND'],
    [['session', 'get', 'nobody', ID, '--json'], 1, 'NOT_FOUND'],
    [['session', 'logs', 'nobody', ID, '-f', '--json'], 1, 'NOT_FOUND'],
    [['session', 'stop', 'nobody', ID, '--json'], 1, 'NOT_FOUND'],
    [['secrets', 'get', 'my-bot', '--json'], 1, 'NOT_FOUND'],
    [['secrets', 'set', 'my-bot', 'A', '--json'], 2, 'USAGE'],
    [['secrets', 'unset', 'my-bot', 'A', '--json'], 1, 'NOT_FOUND'],
    [['keys', 'revoke', 'nope', '--json'], 1, 'NOT_FOUND'],
    [['login', 'http://localhost', '--json'], 2, 'USAGE'],
    [['logout', 'x', '--json'], 2, 'USAGE'],
  ])('%j is one object on stdout, and nothing beside it', async (argv, expected, failure) => {
    const cloud = await CloudDouble.start()
    const { code, stdout, stderr } = await typed(argv, cloud)
    expect({ code, stderr }).toEqual({ code: expected, stderr: '' })
    expect(JSON.parse(stdout)).toEqual({ error: expect.any(String), code: failure })
  })

  it('tells that it was interrupted', async () => {
    const cloud = await CloudDouble.start()
    const build = cloud.addBuild()
    build.log('a')
    const command = new TypedCommand(['build', 'logs', '-f', build.record.id, '--json'], cloud)
    await command.see('"a"')
    command.emit('SIGINT')
    expect(await command.ended).toBe(130)
    expect(command.events.at(-1)).toEqual({ error: 'It was interrupted.', code: 'INTERRUPTED' })
  })
})

it('what is wrong is told with the help of the very command', async () => {
  const { stderr } = await typed(['build', 'logs'])
  expect(stderr).toBe(
    'botcli build logs: Usage: botcli build logs ID [options]\nSee "botcli build logs --help".\n',
  )
})

describe('through a pipe', () => {
  function start(argv: readonly string[], cloud: CloudDouble) {
    const child = spawn(process.execPath, [BIN, ...argv], {
      env: { ...process.env, ...cloud.env },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    return child
  }

  it('everything arrives, however slowly it is read', async () => {
    const cloud = await CloudDouble.start()
    const build = cloud.addBuild()
    build.log(...Array.from({ length: 9000 }, (_, index) => `line ${index} ${'x'.repeat(200)}`))
    build.finish('success')
    const child = start(['build', 'logs', build.record.id, '-n', '9000'], cloud)
    const ended = once(child, 'exit')
    await new Promise((resolve) => setTimeout(resolve, 1000))
    let text = ''
    for await (const part of child.stdout.setEncoding('utf8')) text += part
    expect(await ended).toEqual([0, null])
    expect(text.trim().split('\n')).toEqual(build.lines)
  })

  it('who leaves is not followed for', async () => {
    const cloud = await CloudDouble.start()
    const build = cloud.addBuild()
    build.log('a')
    const child = start(['build', 'logs', '-f', build.record.id], cloud)
    const ended = once(child, 'exit')
    await once(child.stdout, 'data')
    child.stdout.destroy()
    const timer = setInterval(() => build.log('more'), 50)
    onTestFinished(() => clearInterval(timer))
    expect(await ended).toEqual([1, null])
  })
})
