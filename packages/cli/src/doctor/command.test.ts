import { execFile } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { botcliVersion } from '@botcli/scaffold'
import { describe, expect, it, vi } from 'vitest'
import type { Io } from '../io.ts'
import { main } from '../main.ts'
import { freshFolder, makeProject, put, putProgram, putPython, subjectOf } from '../testing/doctor-project.ts'
import { isThere, writtenIn } from '../testing/processes.ts'
import { result } from './examination.ts'
import type { CheckResult } from './finding.ts'
import { formatResult, formatSummary } from './report.ts'

const LIMIT = { timeout: 20_000 }
const BIN = fileURLToPath(new URL('../../bin/botcli.js', import.meta.url))

/** The command's surroundings. */
class Desk extends EventEmitter implements Io {
  out = ''
  err = ''
  readonly env: Io['env']
  readonly stdout: Io['stdout']
  readonly stderr: Io['stderr']
  readonly #folder: string

  constructor(folder: string, env: Io['env'] = {}, isTTY = false) {
    super()
    this.#folder = folder
    this.env = { PATH: '/bin:/usr/bin', ...env }
    const write = (text: string) => {
      this.out += text
    }
    this.stdout = { isTTY, write, on: () => {} }
    const complain = (text: string) => {
      this.err += text
    }
    this.stderr = { write: complain, on: () => {} }
  }

  cwd(): string {
    return this.#folder
  }

  exit(): void {}

  async doctor(...argv: string[]): Promise<number> {
    // A port that nobody on this machine has.
    return main(['doctor', '--port', '1', ...argv], this)
  }
}

/** A project that is as it should be, but for the given keys. */
async function wellProject(keys: string): Promise<string> {
  const { folder } = await makeProject()
  await putPython(folder, 'server/.venv/bin/python', '3.12.4', { pipecat: '1.14.0', botcli: botcliVersion() })
  await put(folder, 'server/.env', keys)
  return folder
}

const KEYS = 'DEEPGRAM_API_KEY=hush-1\nOPENAI_API_KEY=hush-2\nCARTESIA_API_KEY=hush-3\n'

describe('botcli doctor', () => {
  it('finds nothing at fault', async () => {
    const desk = new Desk(await wellProject(KEYS))
    expect(await desk.doctor()).toBe(0)
    expect(desk.out).toContain('  ok      keys ')
    expect(desk.out).toContain('  ok      runner port       1 is free\n')
    expect(desk.out).toMatch(/\n {2}Nothing is at fault(?:, \d warnings?)?\.\n$/)
    expect(desk.err).toBe('')
    expect(desk.eventNames()).toEqual([])
  })

  it('finds faults, and says how to mend them', async () => {
    const desk = new Desk(await wellProject(''))
    expect(await desk.doctor()).toBe(1)
    expect(desk.out).toMatch(
      / {2}fault {3}keys .* are not set\n +fix: In server\/\.env, set DEEPGRAM_API_KEY/,
    )
    expect(desk.out).toMatch(/\n {2}1 fault(?:, \d warnings?)?\.\n$/)
  })

  it('tells programs the same', async () => {
    const folder = await wellProject('')
    const desk = new Desk(folder)
    expect(await desk.doctor(folder, '--json')).toBe(1)
    const { checks, ok } = JSON.parse(desk.out) as { checks: CheckResult[]; ok: boolean }
    expect(ok).toBe(false)
    expect(checks.find(({ name }) => name === 'keys')).toMatchObject({ status: 'fault' })
    expect(checks.find(({ name }) => name === 'bot')).toEqual({
      name: 'bot',
      status: 'ok',
      message: 'server/bot.py',
    })
    const well = new Desk(await wellProject(KEYS))
    expect(await well.doctor('--json')).toBe(0)
    expect(JSON.parse(well.out)).toMatchObject({ ok: true })
  })

  it('never tells a value, and changes nothing', async () => {
    const folder = await wellProject(`${KEYS}ROOM_API_URL=hush-4\nCALL_SERVER_PORT=hush-5\n`)
    const before = await readdir(folder, { recursive: true })
    for (const argv of [[], ['--json']]) {
      const desk = new Desk(folder, { OPENAI_API_KEY: 'hush-6', TELEPHONY_B_PUBLIC_KEY: 'hush-7' })
      expect(await desk.doctor(...argv)).toBe(1)
      expect(desk.out).toContain('TELEPHONY_B_PUBLIC_KEY')
      expect(desk.out + desk.err).not.toContain('hush')
    }
    expect(await readdir(folder, { recursive: true })).toEqual(before)
  })

  it('checks a bot that it did not make as far as it can', async () => {
    const folder = await freshFolder()
    await put(folder, 'bot.ts', 'export async function bot() {}')
    const desk = new Desk(folder)
    expect(await desk.doctor()).toBe(0)
    expect(desk.out).not.toMatch(/python|uv|wheel|client/)
  })

  it('says what is wrong with the command line', async () => {
    const desk = new Desk(await freshFolder())
    expect(await desk.doctor('a', 'b', '--jason')).toBe(2)
    expect(desk.err).toContain('Unknown option --jason. Did you mean --json?')
    expect(await desk.doctor('a', 'b')).toBe(2)
    expect(desk.err).toContain('Only one folder can be checked, not 2.')
    expect(await desk.doctor('nowhere')).toBe(2)
    expect(desk.err).toContain('There is no folder nowhere.')
    expect(desk.out).toBe('')
  })

  it('ends at once when it is interrupted, and ends what it runs', async () => {
    const { folder } = await makeProject()
    const pidFile = join(folder, 'pid')
    await putProgram(folder, 'server/.venv/bin/python', `echo $$ > ${pidFile}; exec sleep 600`)
    const desk = new Desk(folder)
    const code = desk.doctor()
    const [pid = 0] = await writtenIn(pidFile)
    desk.emit('SIGINT')
    expect(await code).toBe(130)
    expect(desk.out).not.toMatch(/at fault|fault/)
    await vi.waitUntil(() => !isThere(pid), LIMIT)
  })
})

describe('a check', () => {
  const check = (examine: () => Promise<never>) => ({ name: 'x', examine })

  it('that breaks or never ends is a finding', async () => {
    const subject = await subjectOf(await freshFolder())
    const broken = check(() => Promise.reject(new Error('no rights')))
    expect(await result(broken, subject)).toEqual({
      name: 'x',
      status: 'fault',
      message: 'could not be checked (no rights)',
    })
    const endless = check(() => new Promise(() => {}))
    expect(await result(endless, subject, 20)).toMatchObject({
      message: 'could not be checked (not within 0.02 seconds)',
    })
  })
})

describe('lines', () => {
  const finding = {
    name: 'client-port',
    status: 'warning',
    message: 'a\u001b[2Jb\nc',
    fix: 'mend it',
  } as const

  it('have marks and colours in a terminal', () => {
    expect(formatResult(finding, 11, { isTerminal: true, wantsColour: true })).toBe(
      '  \u001b[33m!\u001b[0m client port  a [2Jb c\n                 \u001b[2mfix:\u001b[0m mend it\n',
    )
  })

  it('have marks without colours where those are not wanted', () => {
    const reader = { isTerminal: true, wantsColour: false }
    expect(formatResult({ ...finding, status: 'fault' }, 11, reader)).toMatch(/^ {2}✗ client port/)
    expect(formatResult({ ...finding, status: 'ok' }, 11, reader)).toMatch(/^ {2}✓ client port/)
  })

  it('have plain letters elsewhere', () => {
    const reader = { isTerminal: false, wantsColour: true }
    expect(formatResult(finding, 11, reader)).toMatch(/^ {2}warning client port/)
    expect(formatSummary([finding, { ...finding, status: 'fault' }], reader)).toBe(
      '\n  1 fault, 1 warning.\n',
    )
  })
})

it('shows its help without loading what it needs to work', async () => {
  const coverage = await freshFolder()
  const env = { PATH: process.env.PATH, NODE_V8_COVERAGE: coverage }
  const { stdout } = await promisify(execFile)(process.execPath, [BIN, 'doctor', '--help'], { env })
  expect(stdout).toContain('Usage: botcli doctor [DIR] [options]')
  expect(stdout).toMatch(/^ {2}130 {2}stopped by Ctrl-C$/m)
  const files = await readdir(coverage)
  const reports = await Promise.all(files.map((name) => readFile(join(coverage, name), 'utf8')))
  const loaded = reports.flatMap((text) => {
    const { result }: { result: readonly { readonly url: string }[] } = JSON.parse(text)
    return result.map(({ url }) => url)
  })
  expect(loaded.filter((url) => url.includes('/cli/dist/')).length).toBeGreaterThan(0)
  expect(
    loaded.filter((url) => /(?:scaffold\/dist\/index|(?:runner|media|protocol)\/dist)/.test(url)),
  ).toEqual([])
})
