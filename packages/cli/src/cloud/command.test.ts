import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { runMain } from '../testing/run-main.ts'

const WAIT = { timeout: 45_000 }
const BIN = fileURLToPath(new URL('../../bin/botcli.js', import.meta.url))

/** The real command as a process of its own. */
class StartedCloud {
  readonly child: ChildProcess
  text = ''

  constructor(home: string, options: readonly string[] = [], port = '0') {
    this.child = spawn(process.execPath, [BIN, 'cloud', '--port', port, ...options], {
      env: { PATH: process.env.PATH ?? '', HOME: home },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.text += text
      })
    }
  }

  async url(): Promise<string> {
    const find = () => /"msg":"ready","url":"([^"]+)"/.exec(this.text)?.[1]
    return vi.waitUntil(find, WAIT)
  }

  async exit(): Promise<number | null> {
    if (this.child.exitCode !== null) return this.child.exitCode
    const [code] = (await once(this.child, 'exit')) as [number | null]
    return code
  }

  async stop(): Promise<number | null> {
    this.child.kill('SIGINT')
    return this.exit()
  }
}

describe('botcli cloud', () => {
  let home: string
  const started: StartedCloud[] = []
  const start = (...options: string[]) => {
    const cloud = new StartedCloud(home, options)
    started.push(cloud)
    return cloud
  }
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'botcli-home-'))
  })
  afterEach(async () => {
    for (const { child } of started.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    rmSync(home, { recursive: true })
  })
  const credentials = () => join(home, '.config/botcli/credentials.json')

  it('shows keys at its first start that open it, signs in, and shows none again', async () => {
    const first = start()
    const url = await first.url()
    const shown = await vi.waitUntil(() => /sk_\w{43}[\s\S]*pk_\w{43}[\s\S]*Next:/.exec(first.text), WAIT)
    const [key = ''] = /sk_\w{43}/.exec(shown[0]) ?? []
    const answer = await fetch(`${url}/v1/regions`, { headers: { authorization: `Bearer ${key}` } })
    expect(await answer.json()).toEqual({ regions: [{ code: 'local', display_name: 'This machine' }] })
    const [publicKey] = /pk_\w{43}/.exec(shown[0]) ?? []
    expect(JSON.parse(readFileSync(credentials(), 'utf8'))).toEqual({ url, key, publicKey })
    expect(statSync(credentials()).mode & 0o777).toBe(0o600)
    expect(await first.stop()).toBe(0)

    const second = start()
    const again = await fetch(`${await second.url()}/v1/regions`, {
      headers: { authorization: `Bearer ${key}` },
    })
    expect(again.status).toBe(200)
    expect(await second.stop()).toBe(0)
    expect(second.text).not.toMatch(/[sp]k_/)
  })

  it('makes another organization that sees nothing of the first one', async () => {
    const cloud = new StartedCloud(home, ['--new-organization', 'Another'])
    started.push(cloud)
    const url = await cloud.url()
    await vi.waitUntil(() => cloud.text.includes('The keys of the new organization'), WAIT)
    const keys = [...cloud.text.matchAll(/sk_\w{43}/g)].map(([key]) => key)
    expect(new Set(keys).size).toBe(2)
    const ask = async (key: string | undefined, init: RequestInit = {}) =>
      (await fetch(`${url}/v1/secrets`, { headers: { authorization: `Bearer ${key}` }, ...init })).json()
    const secret = { secrets: [{ secretKey: 'A', secretValue: 'mine' }] }
    const headers = { authorization: `Bearer ${keys[0]}` }
    await fetch(`${url}/v1/secrets/mine`, { method: 'PUT', headers, body: JSON.stringify(secret) })
    expect(await ask(keys[0])).toMatchObject({ sets: [{ name: 'mine' }] })
    expect(await ask(keys[1])).toEqual({ sets: [] })
    expect(cloud.text).toContain(`botcli login ${url}, which asks for the private key`)
    expect(await cloud.stop()).toBe(0)
    const again = new StartedCloud(home, ['--new-organization', 'Another'])
    started.push(again)
    await again.url()
    expect(await again.stop()).toBe(0)
    expect(again.text).toContain('there is an organization of this name already')
    expect(again.text).not.toMatch(/[sp]k_/)
  })

  it('makes another private key for whoever has lost theirs, and signs in with it', async () => {
    const first = start()
    // As if it was killed before anybody has seen its keys.
    const url = await first.url()
    const port = new URL(url).port
    await vi.waitUntil(() => first.text.includes('Next:'), WAIT)
    const [old = ''] = /sk_\w{43}/.exec(first.text) ?? []
    first.child.kill('SIGKILL')
    await once(first.child, 'exit')
    rmSync(credentials())

    const second = new StartedCloud(home, ['--new-key'], port)
    started.push(second)
    await vi.waitUntil(() => second.text.includes('Next:'), WAIT)
    expect(second.text).toContain('Your new private key. It is shown this once')
    const [key = ''] = /sk_\w{43}/.exec(second.text) ?? []
    expect(second.text).not.toMatch(/pk_\w/)
    expect(key).not.toBe(old)
    expect(JSON.parse(readFileSync(credentials(), 'utf8'))).toEqual({ url, key })
    const ask = (bearer: string) =>
      fetch(`${url}/v1/keys`, { headers: { authorization: `Bearer ${bearer}` } })
    expect((await ask(old)).status).toBe(200)
    expect(await (await ask(key)).json()).toMatchObject({
      keys: expect.arrayContaining([
        expect.objectContaining({ name: 'Made by a start with --new-key', family: 'private' }),
      ]),
    })
    // Whoever comes with a wrong key is told.
    expect(await (await ask(`sk_${'x'.repeat(43)}`)).json()).toMatchObject({
      error: expect.stringContaining('botcli cloud --new-key'),
    })
  })

  it('makes no more than the first keys at a first start with --new-key', async () => {
    const cloud = start('--new-key')
    await cloud.url()
    await vi.waitUntil(() => cloud.text.includes('Next:'), WAIT)
    expect(cloud.text.match(/sk_\w{43}/g)).toHaveLength(1)
    expect(cloud.text).toMatch(/pk_\w{43}/)
  })

  it('leaves a user signed in where they are', async () => {
    const other = { url: 'https://cloud.example', key: 'sk_of-the-other' }
    mkdirSync(dirname(credentials()), { recursive: true })
    writeFileSync(credentials(), JSON.stringify(other), { mode: 0o600 })
    const cloud = start()
    const url = await cloud.url()
    await vi.waitUntil(() => cloud.text.includes('Then:'), WAIT)
    expect(cloud.text).toMatch(/You stay signed in to https:\/\/cloud\.example\.\n/)
    expect(cloud.text).toMatch(
      new RegExp(`Next: botcli login ${url}\\n +Then: botcli deploy, in the folder of a bot\\n`),
    )
    expect(JSON.parse(readFileSync(credentials(), 'utf8'))).toEqual(other)
  })

  it('refuses a folder that another one has, and a port that is taken, before it makes keys', async () => {
    const first = start()
    const port = new URL(await first.url()).port
    const same = start()
    expect(await same.exit()).toBe(1)
    expect(same.text).toMatch(/^botcli cloud: The data folder .* is in use by another cloud \(process \d+\)/)
    const folder = join(home, 'other')
    const taken = new StartedCloud(home, ['--data', folder], port)
    started.push(taken)
    expect(await taken.exit()).toBe(1)
    expect(taken.text).toContain(`Port ${port} on localhost is in use`)
    const free = start('--data', folder)
    await free.url()
    await vi.waitUntil(() => /sk_\w{43}/.test(free.text), WAIT)
  })

  it('is gone after a kill, and starts again', async () => {
    const first = start()
    await first.url()
    first.child.kill('SIGKILL')
    await once(first.child, 'exit')
    await start().url()
  })
})

it.skipIf(process.platform !== 'linux').each([
  ['/dev/null', 'it is no folder'],
  ['/proc/x', 'no folder can be made there'],
])('says why %s cannot be the data folder', async (folder, reason) => {
  const { code, stderr } = await runMain(['cloud', '--data', folder], '/')
  expect(code).toBe(1)
  expect(stderr).toContain(`botcli cloud: The data folder ${folder} cannot be used: ${reason}`)
})

it.each([
  [['--port', 'x'], /--port must be/],
  [['extra'], /Unexpected argument "extra"/],
  [['--data', ''], /--data must be/],
])('says what is wrong with %j', async (argv, problem) => {
  const { code, stderr } = await runMain(['cloud', ...argv], '/')
  expect(code).toBe(2)
  expect(stderr).toMatch(problem)
})

it('explains itself', async () => {
  const { code, stdout } = await runMain(['cloud', '--help'], '/')
  expect(code).toBe(0)
  expect(stdout).toContain('--data DIR')
  expect(stdout).toContain('--new-key')
})
