import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { TRANSPORT_IDS } from '@botcli/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const BIN = fileURLToPath(new URL('../bin/botcli.js', import.meta.url))
let folder: string
let child: ChildProcess | undefined

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'botcli-bin-'))
})
afterEach(async () => {
  child?.kill('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

function botcli(...argv: string[]): { ended: Promise<Ended>; line: (part: string) => Promise<string> } {
  const env = { PATH: process.env.PATH ?? '' }
  const spawned = spawn(process.execPath, [BIN, ...argv], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child = spawned
  let stdout = ''
  let stderr = ''
  spawned.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  spawned.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = new Promise<Ended>((resolve) => {
    spawned.on('close', (code) => resolve({ code, stdout, stderr }))
  })
  const line = (part: string) =>
    new Promise<string>((resolve, reject) => {
      const look = () => {
        const found = stdout.split('\n').find((one) => one.includes(part))
        if (found) resolve(found)
      }
      look()
      spawned.stdout.on('data', look)
      ended.then((end) => reject(new Error(`ended without ${part}: ${JSON.stringify(end)}`)))
    })
  return { ended, line }
}

describe('help and version', () => {
  it('--version', async () => {
    const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'))
    expect(await botcli('--version').ended).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })

  it('--help lists the commands', async () => {
    const { code, stdout, stderr } = await botcli('--help').ended
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('  run  ')
  })

  it('run --help lists the options, whatever else is there', async () => {
    const { code, stdout } = await botcli('run', '--port', 'x', '--help').ended
    expect(code).toBe(0)
    for (const option of ['--host', '-t, --transport', '-x, --proxy', '--allowed-origins', '-v, --verbose']) {
      expect(stdout).toContain(option)
    }
  })
})

it('tells where in the sources a fault of ours is', async () => {
  const program = `
    import { main } from ${JSON.stringify(new URL('../dist/main.js', import.meta.url))}
    const broken = { on() {}, write() { throw new Error('a fault') } }
    process.exit(await main(['--version'], { stdout: broken, stderr: process.stderr }))
  `
  const failed = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]).then(
    () => undefined,
    (error: { code: number; stderr: string }) => error,
  )
  expect(failed?.code).toBe(1)
  expect(failed?.stderr).toContain('a fault')
  const [, line] = /cli\/src\/main\.ts:(\d+):\d+/.exec(failed?.stderr ?? '') ?? []
  const source = await readFile(new URL('main.ts', import.meta.url), 'utf8')
  expect(source.split('\n')[Number(line) - 1]).toContain('ownVersion()')
})

describe('exit codes', () => {
  it('2 without a command, with the help', async () => {
    const { code, stdout, stderr } = await botcli().ended
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('Usage: botcli')
  })

  it('2 for an unknown command, with the list', async () => {
    const { code, stderr } = await botcli('rn').ended
    expect(code).toBe(2)
    expect(stderr).toContain('Unknown command "rn". Did you mean "run"? Commands: init, ')
  })

  it('2 for a wrong option, in one message', async () => {
    const { code, stdout, stderr } = await botcli('run', '--port', 'x', '--warp', '3').ended
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('Did you mean --warm?')
    expect(stderr).toContain('--port must be a whole number from 0 to 65535, not "x".')
  })

  it('1 when there is no bot', async () => {
    const { code, stderr } = await botcli('run').ended
    expect(code).toBe(1)
    expect(stderr).toContain('No bot was found')
    expect(stderr).not.toContain('    at ')
  })

  it('1 for code that cannot be compiled, with file and line', async () => {
    await writeFile(join(folder, 'bot.ts'), '\nexport async function bot( {\n')
    const { code, stderr } = await botcli('run', '--port', '0').ended
    expect(code).toBe(1)
    expect(stderr).toContain('bot.ts:3:1')
  })
})

it.each(['SIGINT', 'SIGTERM'] as const)('runs, says so in JSON, and ends with 0 on %s', async (signal) => {
  await writeFile(join(folder, 'bot.ts'), 'export async function bot() {}\n')
  const { ended, line } = botcli('run', '--port', '0', '--warm', '0')
  const ready = JSON.parse(await line('"ready"'))
  expect(ready).toMatchObject({ msg: 'ready', bot: 'bot.ts', transports: TRANSPORT_IDS })
  expect(new URL(ready.url).port).not.toBe('0')
  child?.kill(signal)
  expect((await ended).code).toBe(0)
})
