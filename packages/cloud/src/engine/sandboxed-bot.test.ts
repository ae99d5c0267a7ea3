import { existsSync } from 'node:fs'
import { readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findSandbox } from '../builders/limits/find-limiter.ts'
import { until } from '../testing/cloud-fixture.ts'
import { buildProgram, InstanceBench, PROGRAMS, ready } from '../testing/instance-bench.ts'
import { JOURNAL_START, JournalReader } from './journal-reader.ts'

const noSandbox = await findSandbox()
let runner: readonly string[]

beforeAll(() => {
  runner = [process.execPath, buildProgram('runner-stand-in')]
})

afterAll(async () => {
  await rm(runner[1] ?? '', { force: true })
})

describe.skipIf('unavailable' in noSandbox)('a bot in a sandbox', () => {
  let bench: InstanceBench

  beforeEach(async () => {
    bench = await InstanceBench.open({ runner, sandbox: true })
  })

  afterEach(async () => {
    await bench.close()
  })

  // The runner's folder is shown, and a data folder may be in it.
  it.each([tmpdir(), PROGRAMS])(
    'in a data folder in %s sees nothing of the machine but programs and its bundle',
    async (within) => {
      await bench.close()
      bench = await InstanceBench.open({ runner, sandbox: true, within })
      const mark = join(tmpdir(), `botcli-mark-${crypto.randomUUID()}`)
      await writeFile(mark, '')
      await writeFile(join(bench.dataFolder, 'cloud.db'), 'all secrets')
      const other = await bench.bundle('')
      const paths = {
        database: join(bench.dataFolder, 'cloud.db'),
        other: other.kind === 'bundle' ? other.folder : '',
        temporary: mark,
        shadow: '/etc/shadow',
        run: '/run/lock',
        home: homedir(),
      }
      const instance = await bench.start(`import { existsSync, readdirSync, writeFileSync } from 'node:fs'
const paths = ${JSON.stringify(paths)}
const seen = Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, existsSync(path)]))
function tryTo(act) { try { act(); return 'done' } catch (error) { return error.code } }
console.log(JSON.stringify({
  ...seen,
  home: readdirSync(paths.home),
  processes: readdirSync('/proc').filter((name) => /^\\d+$/.test(name)).length,
  bundle: tryTo(() => writeFileSync('bot.mjs', '')),
  compiled: tryTo(() => writeFileSync('.botcli/out.mjs', '')),
  machine: tryTo(() => writeFileSync('/usr/written', '')),
  written: tryTo(() => { writeFileSync('/tmp/a', ''); writeFileSync(paths.home + '/b', '') }),
}))`)
      await ready(instance)
      await rm(mark)
      expect(JSON.parse(await readFile(instance.outputPath, 'utf8'))).toEqual({
        ...{ database: false, other: false, shadow: false, run: false, home: [], temporary: false },
        ...{ processes: 2, bundle: 'EROFS', compiled: 'done', machine: 'EROFS', written: 'done' },
      })
    },
  )

  it('cannot have us talk to another socket in the place of its own', async () => {
    const instance = await bench.start('await new Promise(() => setTimeout(() => undefined, 60_000))')
    const door = join(bench.instances, instance.id, 'door')
    await until(() => existsSync(door), 'its door')
    await symlink('/run/docker.sock', join(door, 'socket'))
    await until(async () => (await readdir(door)).length === 0, 'the link to be taken away')
    expect(await readdir(join(bench.instances, instance.id))).not.toContain('socket')
  })

  it('cannot have us remove below a folder that it can still change', async () => {
    const code = `import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
mkdirSync('/run/botcli/door/making/inner', { recursive: true })
writeFileSync('/run/botcli/door/making/inner/file', '')
renameSync('/run/botcli/door/making', '/run/botcli/door/socket')
await new Promise(() => setTimeout(() => undefined, 60_000))`
    const instance = await bench.start(code)
    const taken = join(bench.instances, instance.id, 'socket.part')
    await until(() => existsSync(taken), 'the folder to be taken')
    // It is dealt with before the next look.
    await sleep(200)
    expect(existsSync(join(taken, 'inner/file'))).toBe(true)
    await instance.stop(0)
    await bench.engine.remove(instance.id)
    expect(await bench.engine.list()).toEqual([])
  })

  it('keeps nobody from reading its journal and removing its folder, whatever it puts there', async () => {
    const code = `import { mkdirSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { homedir } from 'node:os'
const journal = '/run/botcli/journal/'
mkdirSync(journal + '00000000.jsonl/inner', { recursive: true })
symlinkSync('/', journal + '00000002.jsonl')
await new Promise((resolve) => createServer().listen(journal + '00000003.jsonl', resolve))
process.chdir(homedir())
for (let depth = 0; depth < 600; depth += 1) {
  mkdirSync('inside-of-it')
  process.chdir('inside-of-it')
}
process.chdir('/')`
    const instance = await bench.start(code)
    await ready(instance)
    await instance.stop(20_000)
    const { records, obstacles } = await new JournalReader(instance).read(JOURNAL_START, { isOver: true })
    expect(records.map((record) => record.type === 'log' && record.line.msg)).toEqual([
      'ready',
      'told to end',
    ])
    expect(obstacles).toEqual(['journal-strange'])
    await bench.engine.remove(instance.id)
    expect(await readdir(bench.instances)).toEqual([])
  })
})
