import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JournalRecord, SessionState } from '@botcli/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLogger } from '../log/logger.ts'
import { Journal } from './journal.ts'

const LIMITS = { fileBytes: 1000, allBytes: 4000 }

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'botcli-journal-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const files = () => readdirSync(folder).sort()
const path = (name: string | undefined) => join(folder, name ?? 'none')

function records(): readonly JournalRecord[] {
  return files().flatMap((name) =>
    readFileSync(path(name), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as JournalRecord),
  )
}

function opened(limits = LIMITS) {
  const journal = Journal.open(folder, limits)
  const logger = createLogger({ stream: journal.stream, format: 'json' })
  const say = (from: number, to: number) => {
    for (let number = from; number <= to; number += 1) logger.info(`line ${number}`)
  }
  return { journal, logger, say }
}

/** What can still be read, and how much was told to be lost. */
function account() {
  const all = records()
  const said = all.flatMap((record) => (record.type === 'log' ? [Number(record.line.msg.slice(5))] : []))
  const lost = all.reduce((sum, record) => sum + (record.type === 'lost' ? record.records : 0), 0)
  return { said, lost }
}

describe('a journal', () => {
  it('has the lines of the log and the states of sessions, in their order, when the calls return', () => {
    const { journal, logger } = opened()
    const session = { sessionId: 'a', state: 'waiting', createdAt: '2026-01-01T00:00:00.000Z' } as const
    logger.info('one\ntwo', { sessionId: 'a', from: 'bot' })
    journal.session(session)
    logger.warn('three')
    expect(files()).toEqual(['00000001.jsonl'])
    expect(records()).toEqual([
      {
        type: 'log',
        line: { time: expect.any(String), level: 'info', msg: 'one\ntwo', sessionId: 'a', from: 'bot' },
      },
      { type: 'session', session },
      { type: 'log', line: expect.objectContaining({ level: 'warn', msg: 'three' }) },
    ])
    expect(statSync(path('00000001.jsonl')).mode & 0o777).toBe(0o600)
  })

  it('begins a new file when one is full, and leaves removing to its reader', () => {
    const { say } = opened()
    say(1, 20)
    const [first] = files()
    expect(files().length).toBeGreaterThan(1)
    for (const name of files()) expect(statSync(path(name)).size).toBeLessThanOrEqual(LIMITS.fileBytes)
    expect(account()).toEqual({ said: Array.from({ length: 20 }, (_, index) => index + 1), lost: 0 })
    rmSync(path(first))
    say(21, 200)
    expect(files()).not.toContain(first)
  })

  it('removes its oldest files when nobody reads, and tells how many records they had', () => {
    const { say } = opened()
    say(1, 500)
    const bytes = files().reduce((sum, name) => sum + statSync(path(name)).size, 0)
    expect(bytes).toBeLessThanOrEqual(LIMITS.allBytes)
    const { said } = account()
    expect(said.at(-1)).toBe(500)
    expect(said).toEqual(Array.from({ length: said.length }, (_, index) => 501 - said.length + index))
    // A word of lost records that is removed itself is part of the next one.
    const words = records().flatMap((record) => (record.type === 'lost' ? [record.records] : []))
    expect(Math.max(...words)).toBeGreaterThan(0)
  })

  it('tells of every record that its reader cannot have seen, and of no other', () => {
    const { say } = opened()
    const seen = new Set<number>()
    let told = 0
    const take = (names: readonly string[]) => {
      for (const name of names) {
        for (const line of readFileSync(path(name), 'utf8').split('\n').slice(0, -1)) {
          const record = JSON.parse(line) as JournalRecord
          if (record.type === 'lost') told += record.records
          if (record.type === 'log') seen.add(Number(record.line.msg.slice(5)))
        }
        rmSync(path(name))
      }
    }
    for (let round = 0; round < 40; round += 1) {
      say(round * 50 + 1, round * 50 + 50)
      // A reader that comes now and then, and takes all but the file that is written to.
      if (round % 3 === 2) take(files().slice(0, -1))
    }
    take(files())
    expect(told).toBeGreaterThan(0)
    expect(seen.size + told).toBe(2000)
  })

  it('goes on in a new file after a process that ended in the middle of a line', () => {
    opened().say(1, 3)
    writeFileSync(path('00000001.jsonl'), '{"type":"lo', { flag: 'a' })
    const { say } = opened()
    say(4, 4)
    expect(files()).toEqual(['00000001.jsonl', '00000002.jsonl'])
    expect(readFileSync(path('00000002.jsonl'), 'utf8')).toContain('line 4')
  })

  it('wakes who wants to know', () => {
    const { journal, say } = opened()
    let woken = 0
    const stop = journal.onGrown(() => {
      woken += 1
    })
    say(1, 2)
    stop()
    say(3, 3)
    expect(woken).toBe(2)
  })

  it('cannot be where there is no folder for it', () => {
    const file = path('file')
    writeFileSync(file, '')
    expect(() => Journal.open(join(file, 'journal'))).toThrow(
      expect.objectContaining({ code: 'start_failed', message: expect.stringContaining('journal') }),
    )
  })

  it('counts what it cannot write, and tells it when it can again', () => {
    const { say } = opened()
    rmSync(folder, { recursive: true })
    writeFileSync(folder, 'Nothing can be made where a file is.')
    say(1, 7)
    rmSync(folder)
    mkdirSync(folder)
    say(8, 9)
    expect(records().map(({ type }) => type)).toEqual(['lost', 'log', 'log'])
    expect(account()).toEqual({ said: [8, 9], lost: 7 })
  })

  it('tells how sessions are as soon as it can again, though nobody says anything', async () => {
    const { journal, say } = opened({ fileBytes: 100_000, allBytes: 400_000 })
    const createdAt = '2026-01-01T00:00:00.000Z'
    const view = (sessionId: string, state: SessionState) => ({ sessionId, state, createdAt })
    journal.session(view('a', 'active'))
    limitFiles(String(statSync(path('00000001.jsonl')).size))
    try {
      journal.session(view('b', 'waiting'))
      say(1, 2)
      journal.session(view('a', 'ended'))
      journal.session(view('b', 'ended'))
      expect(records()).toHaveLength(1)
    } finally {
      limitFiles('unlimited')
    }
    await new Promise<void>((resolve) => {
      journal.onGrown(resolve)
    })
    expect(records().map((record) => (record.type === 'session' ? record.session : record))).toEqual([
      view('a', 'active'),
      { type: 'lost', records: 2 },
      view('a', 'ended'),
      view('b', 'ended'),
    ])
    journal.close()
  })

  it('tells when it is closed what it could not tell before', () => {
    const { journal } = opened({ fileBytes: 100_000, allBytes: 400_000 })
    const createdAt = '2026-01-01T00:00:00.000Z'
    journal.session({ sessionId: 'a', state: 'active', createdAt })
    limitFiles(String(statSync(path('00000001.jsonl')).size))
    try {
      // More than are held: the first ones are lost.
      for (let number = 1; number <= 205; number += 1) {
        journal.session({ sessionId: String(number), state: 'ended', createdAt })
      }
    } finally {
      limitFiles('unlimited')
    }
    journal.close()
    const [, lost, first, ...others] = records()
    expect(lost).toEqual({ type: 'lost', records: 5 })
    expect(first).toMatchObject({ session: { sessionId: '6' } })
    expect(others).toHaveLength(199)
  })

  it('has no half line when the disk is full in the middle of one', () => {
    const { say } = opened({ fileBytes: 100_000, allBytes: 400_000 })
    say(1, 3)
    const { size } = statSync(path('00000001.jsonl'))
    limitFiles(String(size + 20))
    try {
      say(4, 6)
      expect(statSync(path('00000001.jsonl')).size).toBe(size)
    } finally {
      limitFiles('unlimited')
    }
    say(7, 7)
    expect(account()).toEqual({ said: [1, 2, 3, 7], lost: 3 })
  })
})

/** The system lets no file of this process grow beyond this, as a full disk does. */
function limitFiles(bytes: string): void {
  execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:unlimited`])
}
