import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findInterpreter } from '../bot-source/interpreter.ts'
import { LogCapture } from '../testing/log-capture.ts'
import { childrenOf, isAlive } from '../testing/processes.ts'
import { until } from '../testing/runner-fixture.ts'
import type { Guest } from './guest.ts'
import { KernelKills } from './kernel-kills.ts'
import { LinkDoor } from './link-door.ts'
import { PythonProgram, type PythonProgramOptions } from './python-program.ts'

const BOT = 'async def bot(args):\n    pass\n'
const ENV = { PATH: process.env.PATH ?? '' }

const templates = () => childrenOf(process.pid, '--template')
/** Those that were forked share the command line of their template. */
const forked = () => templates().flatMap((template) => childrenOf(template, '--template'))
const spawned = () => childrenOf(process.pid, 'botcli.guest').filter((pid) => !templates().includes(pid))

describe('a Python program', () => {
  let folder: string
  let door: LinkDoor
  let program: PythonProgram
  let log: LogCapture
  let files: (readonly string[])[]
  let unsafe: string[]
  let unwanted: AbortController

  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'botcli-program-')))
    door = await LinkDoor.open()
    log = new LogCapture()
    files = []
    unsafe = []
    unwanted = new AbortController()
  })
  afterEach(async () => {
    await program.close()
    await door.close()
    await rm(folder, { recursive: true, force: true })
    expect([...templates(), ...spawned()]).toEqual([])
  })

  async function setup(source: string, options: Partial<PythonProgramOptions> = {}): Promise<void> {
    const path = join(folder, 'bot.py')
    await writeFile(path, source)
    program = new PythonProgram({
      version: 4,
      findInterpreter: () => findInterpreter({ folder, env: ENV }),
      path,
      folder,
      env: ENV,
      maxMemoryBytes: 256 * 1024 * 1024,
      door,
      logger: log.logger,
      onFiles: (found) => files.push(found),
      onUnsafe: (reason) => unsafe.push(reason),
      ...options,
    })
  }
  const start = (): Promise<Guest> => program.start(unwanted.signal)

  it('loads the code once and forks each guest from it', async () => {
    await setup(`import helper\nprint('imported')\n${BOT}`)
    await writeFile(join(folder, 'helper.py'), 'x = 1\n')
    const guests = await Promise.all([start(), start(), start()])
    expect(guests.map(({ version }) => version)).toEqual([4, 4, 4])
    expect(templates()).toHaveLength(1)
    expect(forked()).toHaveLength(3)
    expect(log.lines.filter(({ msg }) => msg === 'imported')).toHaveLength(1)
    expect([...(files[0] ?? [])].sort()).toEqual([join(folder, 'bot.py'), join(folder, 'helper.py')])
    await Promise.all(guests.map((guest) => guest.stop(0)))
    expect(await guests[0]?.exited).toEqual({ how: 'exited with code 0', outOfMemory: false })
    expect(forked()).toEqual([])
  })

  it('logs what a forked guest writes on its own, in the name of its session', async () => {
    await setup(`import os, sys, threading
def speak():
    print('to stdout'); print('to stderr', file=sys.stderr)
    os.write(1, b'straight to one\\n')
os.register_at_fork(after_in_child=lambda: threading.Timer(0.3, speak).start())
${BOT}`)
    const guest = await start()
    const link = guest.release(log.logger.child({ sessionId: 'one' }))
    await until(() => log.find('straight to one') && log.find('to stderr'), 'the lines')
    expect(log.find('to stdout')).toMatchObject({ level: 'info', from: 'bot', sessionId: 'one' })
    expect(log.find('to stderr')).toMatchObject({ level: 'warn', from: 'bot', sessionId: 'one' })
    link.destroy()
    expect((await guest.exited).how).toBe('exited with code 0')
  })

  it('says what the code threw when it was loaded, with its traceback, and tries again', async () => {
    await setup(`def deep():\n    raise LookupError('not today')\ndeep()\n${BOT}`)
    await expect(start()).rejects.toMatchObject({
      code: 'bot_load_failed',
      message: expect.stringContaining('LookupError: not today'),
      detail: expect.stringMatching(/bot\.py", line 2/),
    })
    expect(templates()).toEqual([])
    await writeFile(join(folder, 'bot.py'), BOT)
    const guest = await start()
    expect(guest.version).toBe(4)
    await guest.stop(0)
  })

  it.each([
    ['import os\nos._exit(9)\n', 'exited with code 9'],
    ['kept = []\nwhile True: kept.append([0] * 100_000)\n', 'ran out of memory'],
  ])('says how the process ended when it did while it loaded (%j)', async (source, how) => {
    await setup(source)
    await expect(start()).rejects.toThrow(`${how} while it loaded`)
  })

  it('says so when there is no such Python', async () => {
    await setup(BOT, { findInterpreter: async () => ({ path: join(folder, 'nowhere'), hasPackage: true }) })
    await expect(start()).rejects.toThrow('could not be started')
  })

  it('says so when the code writes into the stream of the runner', async () => {
    await setup(`import os\nos.write(3, b'hello\\n')\nimport time\ntime.sleep(60)\n${BOT}`)
    await expect(start()).rejects.toThrow('file descriptor 3')
  })

  it('starts each guest from the beginning when it is told to', async () => {
    await setup(`print('imported')\n${BOT}`, { door: undefined })
    const guests = await Promise.all([start(), start()])
    expect(templates()).toEqual([])
    expect(spawned()).toHaveLength(2)
    await until(() => log.lines.filter(({ msg }) => msg === 'imported').length === 2, 'both lines')
    await Promise.all(guests.map((guest) => guest.stop(0)))
    expect(await guests[0]?.exited).toEqual({ how: 'exited with code 0', outOfMemory: false })
  })

  it('starts each guest from the beginning when the code runs threads, and tells why', async () => {
    await setup(
      `import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True, name='poller').start()\n${BOT}`,
    )
    const guests = [await start(), await start()]
    expect(unsafe).toEqual([expect.stringContaining('poller')])
    expect(templates()).toEqual([])
    expect(spawned()).toHaveLength(2)
    for (const guest of guests) await guest.stop(0)
  })

  it('ends a guest that is stuck by force, with everything that it started', async () => {
    await setup(`import os, signal, subprocess
def stuck():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print('child', subprocess.Popen(['sleep', '60']).pid)
os.register_at_fork(after_in_child=lambda: __import__('threading').Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGUSR1)).start())
signal.signal(signal.SIGUSR1, lambda *_: (stuck(), [None for _ in iter(int, 1)]))
${BOT}`)
    const guest = await start()
    const line = await until(() => log.find('child '), 'the pid of the child')
    const child = Number(line.msg.split(' ')[1])
    await Promise.all([guest.stop(0), guest.stop(0)])
    expect(await guest.exited).toEqual({ how: 'was ended by SIGKILL', outOfMemory: false })
    await until(() => !isAlive(child), 'the child to be gone')
  })

  it.each(['fork', 'spawn'] as const)('ends a guest that fills the memory (%s)', async (way) => {
    await setup(
      `import os, threading
kept = []
def fill():
    while True: kept.append([0] * 100_000)
def later():
    threading.Timer(0.3, fill).start()
if os.environ['WAY'] == 'fork': os.register_at_fork(after_in_child=later)
else: later()
${BOT}`,
      { door: way === 'fork' ? door : undefined, env: { ...ENV, WAY: way } },
    )
    const guest = await start()
    expect(await guest.exited).toEqual({ how: 'ran out of memory', outOfMemory: true })
  })

  /** Counts one more process that the kernel has ended, and ends itself. */
  const ENDED = `import os, signal
def end():
    with open('memory.events', 'w') as file: file.write('oom_kill 1\\n')
    os.kill(os.getpid(), signal.SIGKILL)
`
  const kernelKills = () =>
    KernelKills.find({
      membership: '0::/\n',
      mounts: `29 24 0:26 / ${folder} rw - cgroup2 cgroup2 rw\n`,
    })

  it.each(['fork', 'spawn'] as const)('tells that the kernel has ended a guest (%s)', async (way) => {
    const later = '__import__("threading").Timer(0.3, end).start()'
    const soon = way === 'fork' ? `os.register_at_fork(after_in_child=lambda: ${later})` : later
    const options = { door: way === 'fork' ? door : undefined, kills: kernelKills() }
    await setup(`${ENDED}${soon}\n${BOT}`, options)
    const guest = await start()
    expect(await guest.exited).toEqual({ how: 'ran out of memory', outOfMemory: true })
  })

  it('tells that the kernel has ended the template while it loaded', async () => {
    await setup(`${ENDED}end()\n${BOT}`, { kills: kernelKills() })
    await expect(start()).rejects.toMatchObject({
      code: 'bot_load_failed',
      message: expect.stringContaining('ran out of memory while it loaded'),
    })
  })

  it('starts a template that died again, and its guests go on', async () => {
    await setup(BOT)
    const guest = await start()
    const [first = 0] = templates()
    const [pid = 0] = forked()
    process.kill(first, 'SIGKILL')
    await until(() => log.find('was ended by SIGKILL'), 'the news')
    expect(isAlive(pid)).toBe(true)
    const next = await start()
    expect(templates()).toHaveLength(1)
    expect(templates()).not.toContain(first)
    expect(isAlive(pid)).toBe(true)
    await Promise.all([guest.stop(0), next.stop(0)])
    // It has no parent any more who would know the very moment.
    await until(() => !isAlive(pid), 'the guest to be gone')
    expect((await guest.exited).how).toBe('ended')
  })

  it('forks a guest once more when it did not come to its socket', async () => {
    await setup(`import os
def die_once():
    if not os.path.exists('died'):
        open('died', 'w').close()
        os._exit(3)
os.register_at_fork(after_in_child=die_once)
${BOT}`)
    const guest = await start()
    expect(log.find('tried once more')).toMatchObject({ level: 'warn' })
    await guest.stop(0)
  })

  it('is left by its template only when its last guest has gone', async () => {
    await setup(BOT)
    const guest = await start()
    const gone = program.retire()
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(templates()).toHaveLength(1)
    await guest.stop(0)
    await gone
    expect(templates()).toEqual([])
  })

  it.each([
    ['nobody wants it any more', () => unwanted.abort()],
    ['there is newer code', () => void program.retire()],
  ])('does not wait for code that never comes to its end when %s', async (_, leave) => {
    await setup('while True:\n    pass\n')
    const starting = start()
    starting.catch(() => {})
    await until(() => templates().length === 1, 'the template')
    leave()
    await expect(starting).rejects.toMatchObject({ code: 'bot_load_failed' })
    await program.close()
    expect(templates()).toEqual([])
  })

  it("uses the project's own package when it has one", async () => {
    const own = join(folder, 'botcli/guest')
    await mkdir(own, { recursive: true })
    await writeFile(join(folder, 'botcli/__init__.py'), '')
    await writeFile(join(own, '__init__.py'), '')
    await writeFile(join(own, '__main__.py'), `raise SystemExit('the own one')\n`)
    await setup(BOT)
    expect((await findInterpreter({ folder, env: ENV })).hasPackage).toBe(true)
    await expect(start()).rejects.toThrow('exited with code 1')
    expect(log.find('the own one')).toBeDefined()
  })
})
