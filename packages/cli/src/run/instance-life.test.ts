import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { childrenOf, isAlive } from '../../../runner/src/testing/processes.ts'
import { botFolder, ECHO, until } from '../../../runner/src/testing/runner-fixture.ts'
import { WebsocketClient } from '../../../runner/src/testing/websocket-client.ts'
import { folderWith } from '../testing/folder.ts'
import { StartedInstance, type StartedInstanceOptions } from '../testing/started-instance.ts'

let instances: StartedInstance[] = []
afterEach(async () => {
  await Promise.all(instances.map((instance) => instance.close()))
  instances = []
})

async function start(bot: string, options?: StartedInstanceOptions): Promise<StartedInstance> {
  const instance = await StartedInstance.start(bot, options)
  instances.push(instance)
  return instance
}

async function ready(bot: string, options?: StartedInstanceOptions): Promise<StartedInstance> {
  return (await start(bot, options)).ready()
}

async function call(instance: StartedInstance, id = randomUUID()) {
  await instance.start({ transport: 'websocket' }, id)
  const client = await WebsocketClient.connect(instance.websocketUrl(`/ws-client?sessionId=${id}`))
  client.sendMessage('client-ready', { version: '2.2.0' })
  await client.message('bot-ready')
  return { id, client }
}

/** Counts the lines of a stream as they come. */
function beats(stream: IncomingMessage) {
  const seen = { lines: 0, ended: false }
  stream.on('data', (chunk: Buffer) => {
    seen.lines += chunk.toString().split('\n').length - 1
  })
  stream.on('end', () => {
    seen.ended = true
  })
  stream.on('error', () => {})
  return seen
}

describe('whoever watches an instance', () => {
  it('hears at once, whenever the journal grows, and until the instance ends', async () => {
    const instance = await ready(ECHO)
    const seen = beats(await instance.open('GET', '/instance/events'))
    await until(() => seen.lines >= 1, 'the first line')
    const before = seen.lines
    await instance.start({ transport: 'webrtc' })
    await until(() => seen.lines > before, 'a line for a session')
    instance.child.kill('SIGTERM')
    await until(() => seen.ended, 'the end of the stream')
    expect(await instance.exitCode()).toBe(0)
  })

  it('keeps it alive; without one it ends by itself, but not while it has a session', async () => {
    const instance = await ready(ECHO, { settings: { orphanSeconds: 1 } })
    const stream = await instance.open('GET', '/instance/events')
    beats(stream)
    // Only the headers are no watch.
    await instance.ask('HEAD', '/instance/events')
    const { id, client } = await call(instance)
    const left = performance.now()
    stream.destroy()
    await until(() => performance.now() - left > 2500, 'the time in which it could end')
    expect((await instance.ask('GET', '/instance')).status).toBe(200)
    client.close()
    expect(await instance.exitCode()).toBe(0)
    expect(instance.views(id).at(-1)).toMatchObject({ outcome: { cause: 'client_left' } })
    expect(instance.lines().some(({ msg }) => msg.startsWith('nobody has watched'))).toBe(true)
    expect(existsSync(instance.settings.socket)).toBe(false)
  })
})

describe('the end of an instance', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('by %s ends its sessions and writes it down', async (signal) => {
    const instance = await ready(ECHO)
    const { id, client } = await call(instance)
    const waiting = await instance.start({ transport: 'webrtc' })
    instance.child.kill(signal)
    expect(await client.whenClosed()).toMatchObject({ code: 1012 })
    expect(await instance.exitCode()).toBe(0)
    for (const session of [id, waiting]) {
      expect(instance.views(session).at(-1)).toMatchObject({ state: 'ended', outcome: { cause: 'shutdown' } })
    }
    expect(existsSync(instance.settings.socket)).toBe(false)
    expect(instance.stdout + instance.stderr).toBe('')
  })

  it('gives its bots the time that the cloud gives to it, and no more', async () => {
    const bot = (afterMs: number) => `import { createTransport } from '@botcli/bot'
export async function bot(args) {
  const transport = await createTransport(args, { websocket: () => ({}) })
  await new Promise((resolve) => transport.signal.addEventListener('abort', resolve))
  await new Promise((resolve) => setTimeout(resolve, ${afterMs}))
  console.log('has put everything away')
}
`
    const ended = async (afterMs: number, stopSeconds: number) => {
      const instance = await ready(await botFolder(bot(afterMs)), { settings: { stopSeconds } })
      const { id } = await call(instance)
      instance.child.kill('SIGTERM')
      const code = await instance.exitCode()
      const isDone = instance.lines().some(({ msg }) => msg === 'has put everything away')
      return { code, isDone, session: instance.views(id).at(-1) }
    }
    // After a call of which somebody hangs up, a bot has three seconds.
    expect(await ended(4000, 20)).toMatchObject({
      ...{ code: 0, isDone: true },
      session: { state: 'ended', outcome: { cause: 'shutdown' } },
    })
    // Whether what is left of its time is enough for all the rest depends on what else the machine has to do.
    expect(await ended(60_000, 4)).toMatchObject({ isDone: false })
  })

  it('by kill -9 loses nothing that was written, and leaves no process', async () => {
    const instance = await ready(ECHO)
    const { id, client } = await call(instance)
    await until(() => instance.views(id).at(-1)?.state === 'active', 'the session to be written down')
    const written = instance.records()
    const processes = childrenOf(instance.pid, 'main.js')
    expect(processes.length).toBeGreaterThan(1)
    process.kill(instance.pid, 'SIGKILL')
    await instance.exitCode()
    await client.whenClosed()
    expect(instance.records().slice(0, written.length)).toEqual(written)
    await until(() => !processes.some(isAlive), 'its processes to be gone')
  })
})

describe('an instance whose disk is full', () => {
  /** The system lets no file of its process grow beyond this, as a full disk does. */
  const limit = ({ pid }: StartedInstance, bytes: string) =>
    execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`])

  it('tells how a session ended as soon as there is room, though nothing else happens', async () => {
    const instance = await ready(ECHO)
    const { id, client } = await call(instance)
    await until(() => instance.views(id).at(-1)?.state === 'active', 'the session to be written down')
    limit(instance, '1')
    const records = instance.records().length
    client.close()
    await until(
      async () => (await instance.ask('GET', `/sessions/${id}`)).body.state === 'ended',
      'the session to be over',
    )
    expect(instance.records()).toHaveLength(records)
    limit(instance, 'unlimited')
    expect(await instance.over(id)).toMatchObject({ outcome: { cause: 'client_left' } })
  })

  it('goes on with its calls, and tells later what it could not write', async () => {
    const instance = await ready(ECHO)
    const { id, client } = await call(instance)
    await until(() => instance.views(id).at(-1)?.state === 'active', 'the session to be written down')
    limit(instance, '1')
    const other = await instance.start({ transport: 'webrtc' })
    const heard = client.samples.length
    while (client.samples.length < heard + 12_000) await client.sendTone(440, 200)
    limit(instance, 'unlimited')
    client.close()
    await instance.over(id)
    expect(instance.views(other)).toMatchObject([{ state: 'waiting' }])
    expect(instance.records().some((record) => record.type === 'lost' && record.records > 0)).toBe(true)
    expect((await instance.ask('GET', '/instance')).body.sessions).toMatchObject([{ sessionId: other }])
  })
})

describe('the socket of an instance', () => {
  it('replaces what a dead process has left', async () => {
    const first = await ready(ECHO)
    process.kill(first.pid, 'SIGKILL')
    await first.exitCode()
    expect(existsSync(first.settings.socket)).toBe(true)
    const { socket } = first.settings
    const second = await start(ECHO, { settings: { socket } })
    const answers = () => second.ask('GET', '/instance').catch(() => undefined)
    const { body } = await until(answers, 'the second instance to answer')
    expect(body.instanceId).toBe(second.settings.instanceId)
  })

  it('is not taken from a process that lives', async () => {
    const folder = await folderWith({})
    const socket = join(folder, 's')
    const server = createServer().listen(socket)
    await once(server, 'listening')
    const instance = await start(ECHO, { settings: { socket } })
    expect(await instance.exitCode()).toBe(1)
    expect(instance.stderr).toContain(`Cannot listen on ${socket}: another process listens there.`)
    expect(existsSync(socket)).toBe(true)
    server.close()
  })

  it.each([
    ['what is no socket', (folder: string) => join(folder, 'file'), 'no socket'],
    ['a path that is too long', (folder: string) => join(folder, 'x'.repeat(107)), '107 bytes'],
    ['a folder that is missing', (folder: string) => join(folder, 'missing/s'), 'ENOENT'],
  ])('cannot be %s', async (_, place, words) => {
    const folder = await folderWith({ file: 'mine' })
    const instance = await start(ECHO, { settings: { socket: place(folder) } })
    expect(await instance.exitCode()).toBe(1)
    expect(instance.stderr).toContain(words)
    expect(existsSync(join(folder, 'file'))).toBe(true)
  })
})

describe('an instance that cannot start', () => {
  it.each([
    [
      'a Python bot that fails at import',
      'bot.py',
      'import nothing_like_it\n',
      /Traceback[\s\S]*bot\.py", line 1[\s\S]*ModuleNotFoundError: No module named 'nothing_like_it'/,
    ],
    ['a Python bot that is no Python', 'bot.py', 'def bot(:\n', /bot\.py[\s\S]*SyntaxError/],
    [
      'a bot that does not compile',
      'bot.ts',
      'export async function bot() { const }\n',
      /bot\.ts:1:\d+: Expected/,
    ],
    [
      'a bot that throws when it is loaded',
      'bot.ts',
      'throw new Error("no key")\nexport async function bot() {}\n',
      /Error: no key[\s\S]*bot\.ts:1/,
    ],
  ])('ends with 1 and the words of %s', async (_, name, source, words) => {
    const folder = await folderWith({ [name]: source })
    const instance = await start(join(folder, name))
    expect(await instance.exitCode()).toBe(1)
    expect(instance.stderr).toMatch(words)
    expect(existsSync(instance.settings.socket)).toBe(false)
  })

  it.each([
    ['is missing', undefined, 'ENOENT'],
    ['is no JSON', '{', 'JSON'],
    ['is of another version', JSON.stringify({ version: 2 }), 'version: '],
  ])('says so when the file of its settings %s', async (_, text, words) => {
    const folder = await folderWith(text === undefined ? {} : { 'settings.json': text })
    const path = join(folder, 'settings.json')
    const bin = join(import.meta.dirname, '../../bin/botcli.js')
    const command = ['/usr/bin/env', `BOTCLI_INSTANCE=${path}`, process.execPath, bin, 'run', ECHO] as const
    const instance = await start(ECHO, { command })
    expect(await instance.exitCode()).toBe(2)
    expect(instance.stderr).toContain(`BOTCLI_INSTANCE names ${path}`)
    expect(instance.stderr).toContain(words)
  })
})

/** Where everybody may write into everything, somebody else has to try. */
const isRoot = process.getuid?.() === 0
const nobody = isRoot ? { uid: 65_534 } : {}

describe('an instance in a folder of another user, as in a container', () => {
  it.runIf(isRoot)('lets that user in, whom the folder above keeps apart from others', async () => {
    const folder = await folderWith({ 'bot.py': 'async def bot(args):\n    pass\n' })
    await chmod(folder, 0o755)
    const instance = await ready(folder, nobody)
    await until(() => instance.journalFiles().length > 0, 'its first words')
    const mode = (path: string) => statSync(path).mode & 0o777
    expect(mode(instance.settings.socket)).toBe(0o666)
    expect(mode(instance.settings.journal)).toBe(0o777)
    expect(mode(join(instance.settings.journal, '00000001.jsonl'))).toBe(0o644)
  })
})

describe('instances of the same bot', () => {
  it.each([
    ['in JavaScript', 'bot.ts', 'export async function bot() { console.log("runs") }\n'],
    ['in Python', 'bot.py', 'import helper\nasync def bot(args):\n    print("runs", flush=True)\n'],
  ])('%s share a folder into which they can write nothing but .botcli', async (_, name, source) => {
    const folder = await botFolder(source)
    await rm(join(folder, 'bot.ts'))
    await writeFile(join(folder, name), source)
    await writeFile(join(folder, 'helper.py'), '')
    await mkdir(join(folder, '.botcli'))
    await chmod(join(folder, '.botcli'), 0o777)
    await chmod(folder, 0o555)
    const before = readdirSync(folder).sort()
    try {
      const all = await Promise.all([1, 2, 3].map(() => ready(join(folder, name), nobody)))
      // One that is gone takes nothing along, however it goes.
      const [killed, ended, last] = all
      process.kill(killed?.pid ?? 0, 'SIGKILL')
      ended?.child.kill('SIGTERM')
      await Promise.all([killed?.exitCode(), ended?.exitCode()])
      const next = await ready(join(folder, name), nobody)
      for (const instance of [last, next]) {
        if (instance === undefined) continue
        for (let count = 0; count < 2; count += 1) {
          const id = await instance.start({ transport: 'websocket' })
          const client = new WebsocketClient(instance.websocketUrl(`/ws-client?sessionId=${id}`))
          expect(await client.whenClosed()).toMatchObject({ code: 1000 })
          expect(await instance.over(id)).toMatchObject({ outcome: { cause: 'bot_returned' } })
          const said = instance.lines().filter(({ sessionId }) => sessionId === id)
          expect(said.map(({ msg }) => msg)).toContain('runs')
        }
      }
      expect(readdirSync(folder).sort()).toEqual(before)
    } finally {
      await chmod(folder, 0o755)
      await rm(folder, { recursive: true, force: true })
    }
  })
})
