import { describe, expect, it, vi } from 'vitest'
import { CloudDouble } from '../testing/cloud-double.ts'
import { TypedCommand, typed } from '../testing/typed-command.ts'
import { Progress } from './progress.ts'

const NOWHERE = '00000000-0000-4000-8000-000000000000'

describe('botcli build', () => {
  it('alone shows its commands', async () => {
    const alone = await typed(['build'])
    expect(alone).toMatchObject({ code: 2, stdout: '' })
    for (const word of ['create', 'list', 'get', 'logs', 'cancel', 'remove'])
      expect(alone.stderr).toContain(`  ${word} `)
    expect(await typed(['build', '--help'])).toEqual({ code: 0, stdout: alone.stderr, stderr: '' })
    const wrong = await typed(['build', 'lsit'])
    expect(wrong.code).toBe(2)
    expect(wrong.stderr).toContain('Unknown command "lsit". Did you mean "botcli build list"?')
  })

  it.each(['create', 'list', 'get', 'logs', 'cancel', 'remove'])(
    '%s has a help, whatever else is there',
    async (word) => {
      const { code, stdout } = await typed(['build', word, '--help', '--json'])
      expect(code).toBe(0)
      expect(stdout).toContain(`Usage: botcli build ${word}`)
      expect(stdout).toContain('--json')
    },
  )

  it('list', async () => {
    const cloud = await CloudDouble.start()
    const empty = await typed(['build', 'list'], cloud)
    expect(empty.stdout).toBe('There are no builds. Make one: botcli build create\n')
    const [one, two] = [cloud.addBuild(), cloud.addBuild({ region: 'far' })]
    one.finish('failed', { code: 'dependency_missing', step: null, line: null, hint: 'x' })
    const { code, stdout, stderr } = await typed(['build', 'list', '-n', '1'], cloud)
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /^ID +STATUS +FAILURE .*\n\S{36} {2}failed {2}dependency_missing {2}\d.* 1\.5 s\n$/,
    )
    expect(stderr).toBe('(1 more: --offset 1)\n')
    const far = await typed(['build', 'list', '--region', 'far', '--json'], cloud)
    expect(JSON.parse(far.stdout)).toMatchObject({ total: 1, builds: [{ id: two.record.id }] })
  })

  it('get', async () => {
    const cloud = await CloudDouble.start()
    const build = cloud.addBuild()
    build.finish('failed', { code: 'copy_source_missing', step: 'COPY a b', line: 4, hint: 'Add a.' })
    const { stdout } = await typed(['build', 'get', build.record.id], cloud)
    expect(stdout).toMatch(/^id +\S{36}\nstatus +failed\n/)
    expect(stdout).toMatch(/step +COPY a b\nline +4\nhint +Add a\.\n$/)
    const json = await typed(['build', 'get', build.record.id, '--json'], cloud)
    expect(JSON.parse(json.stdout)).toEqual({ build: build.record })
    const gone = await typed(['build', 'get', NOWHERE], cloud)
    expect(gone).toMatchObject({ code: 1, stderr: `botcli build get: There is no build ${NOWHERE}.\n` })
    const goneJson = await typed(['build', 'get', NOWHERE, '--json'], cloud)
    expect(JSON.parse(goneJson.stdout)).toEqual({ error: `There is no build ${NOWHERE}.`, code: 'NOT_FOUND' })
    expect((await typed(['build', 'get', 'x'], cloud)).code).toBe(2)
    const short = await typed(['build', 'get', build.record.id.slice(0, 8), '--json'], cloud)
    expect(JSON.parse(short.stdout)).toEqual({ build: build.record })
    const unknown = await typed(['build', 'get', '00000000'], cloud)
    expect(unknown.code).toBe(1)
    expect(unknown.stderr).toContain('begins with 00000000')
  })

  it('logs, page by page', async () => {
    const cloud = await CloudDouble.start()
    const build = cloud.addBuild()
    build.log(...Array.from({ length: 25_000 }, (_, index) => `line ${index}`))
    const some = await typed(['build', 'logs', build.record.id, '-n', '2'], cloud)
    expect(some.stdout).toBe('line 24998\nline 24999\n')
    expect(some.stderr).toContain('(older lines are not shown')
    const all = await typed(['build', 'logs', build.record.id, '-n', '30000', '--json'], cloud)
    const { logs, complete } = JSON.parse(all.stdout) as { logs: string[]; complete: boolean }
    expect(logs).toEqual(build.lines)
    expect(complete).toBe(true)
  })

  it('logs cannot steer the terminal', async () => {
    const cloud = await CloudDouble.start()
    const build = cloud.addBuild()
    build.log('a\u001b]0;title\u0007b\u001b[2Jc\td')
    const { stdout } = await typed(['build', 'logs', build.record.id], cloud)
    expect(stdout).toBe('a ]0;title b [2Jc\td\n')
  })

  it('logs -f goes on to the end, and ends as the build did', async () => {
    const cloud = await CloudDouble.start()
    const build = cloud.addBuild()
    build.log('a', 'b', 'c')
    const command = new TypedCommand(['build', 'logs', '-f', build.record.id, '-n', '2'], cloud)
    await command.see('c\n')
    build.log('d')
    await command.see('d\n')
    build.finish('failed', { code: 'command_failed', step: 'RUN x', line: 2, hint: 'Mend x.' })
    expect(await command.ended).toBe(1)
    expect(command.stdoutText).toBe('b\nc\nd\n')
    expect(command.stderrText).toContain('(1 line older are not shown')
    expect(command.stderrText).toContain('[command_failed]')
  })

  it('logs -f leaves the build alone on Ctrl-C', async () => {
    const cloud = await CloudDouble.start()
    const build = cloud.addBuild()
    build.log('a')
    const command = new TypedCommand(['build', 'logs', '-f', build.record.id], cloud)
    await command.see('a\n')
    command.emit('SIGINT')
    expect(await command.ended).toBe(130)
    expect(build.record.status).toBe('building')
    await vi.waitUntil(() => build.followers.size === 0, { timeout: 20_000 })
  })

  it('cancel', async () => {
    const cloud = await CloudDouble.start()
    const build = cloud.addBuild()
    const { code, stdout } = await typed(['build', 'cancel', build.record.id], cloud)
    expect(code).toBe(0)
    expect(stdout).toContain('was cancelled')
    const again = await typed(['build', 'cancel', build.record.id], cloud)
    expect(again.code).toBe(1)
    expect(again.stderr).toContain('was over already (failed); nothing was cancelled.')
    expect(cloud.builds.size).toBe(1)
  })

  it('remove', async () => {
    const cloud = await CloudDouble.start()
    const build = cloud.addBuild()
    const early = await typed(['build', 'remove', build.record.id], cloud)
    expect(early).toMatchObject({ code: 1, stdout: '' })
    expect(early.stderr).toContain(`End it first: botcli build cancel ${build.record.id}`)
    build.finish('success')
    const { code, stdout } = await typed(['build', 'remove', build.record.id], cloud)
    expect({ code, stdout }).toEqual({ code: 0, stdout: `Build ${build.record.id} is removed.\n` })
    expect((await typed(['build', 'remove', build.record.id], cloud)).stderr).toContain('There is no build')
  })

  it('cancel never removes a build that ends before it is asked to', async () => {
    const cloud = await CloudDouble.start()
    const build = cloud.addBuild()
    cloud.intercept = (request) => {
      if (request.method !== 'GET') build.finish('success')
      return undefined
    }
    const { code, stdout } = await typed(['build', 'cancel', build.record.id, '--json'], cloud)
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({ cancelled: false, build: { status: 'success' } })
    expect(cloud.builds.size).toBe(1)
  })
})

describe('progress', () => {
  function progress(isTTY: boolean, steps: readonly number[]): string {
    let out = ''
    let now = 0
    const output = { isTTY, write: (text: string) => (out += text), on: () => {} }
    const shown = new Progress('Uploaded', output, 1000, () => now)
    for (const bytes of steps) {
      shown.update(bytes)
      now += 60
    }
    shown.close()
    return out
  }

  it('is a bar on a terminal', () => {
    const bars = progress(true, [0, 100, 500, 1000]).split('\r\u001b[K')
    expect(bars).toHaveLength(4)
    expect(bars[2]).toBe(`Uploaded ${'█'.repeat(12)}${'░'.repeat(12)} 50%  500 B of 1.0 KB`)
    expect(bars[3]).toMatch(/ 100% {2}1\.0 KB of 1\.0 KB\n$/)
  })

  it('is a few lines elsewhere', () => {
    expect(progress(false, [10, 100, 300, 310, 800, 1000])).toBe(
      'Uploaded 30% (300 B of 1.0 KB)\nUploaded 80% (800 B of 1.0 KB)\nUploaded 100% (1.0 KB of 1.0 KB)\n',
    )
  })
})
