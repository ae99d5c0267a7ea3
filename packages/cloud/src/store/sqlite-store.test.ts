import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { CloudError } from '../errors.ts'
import { describeStore } from '../testing/store-conformance.ts'
import { DataLock } from './data-lock.ts'
import { SqliteDatabase } from './sqlite/database.ts'
import { migrate } from './sqlite/migrations.ts'
import { SqliteStore } from './sqlite-store.ts'

const makeFolder = () => mkdtempSync(join(tmpdir(), 'botcli-store-'))

describeStore('the SQLite store', async () => {
  const folder = makeFolder()
  return {
    open: async () => new SqliteStore(join(folder, 'cloud.db')),
    remove: async () => rmSync(folder, { recursive: true }),
  }
})

it('brings a file to the newest version step by step, and leaves a newer one alone', () => {
  const folder = makeFolder()
  const open = () => new SqliteDatabase(join(folder, 'a.db'))
  const steps = ['CREATE TABLE a (x INTEGER)', 'ALTER TABLE a ADD COLUMN y INTEGER DEFAULT 7']
  const first = open()
  migrate(first, steps.slice(0, 1))
  first.run('INSERT INTO a VALUES (1)')
  first.close()
  const second = open()
  expect(() => migrate(second, [...steps, 'broken'])).toThrow()
  expect(second.get('SELECT x, y FROM a')).toMatchObject({ x: 1, y: 7 })
  migrate(second, steps)
  expect(() => migrate(second, steps.slice(0, 1))).toThrow(/newer version/)
  second.close()
  rmSync(folder, { recursive: true })
})

it('undoes what a failed transaction has done', () => {
  const folder = makeFolder()
  const database = new SqliteDatabase(join(folder, 'a.db'))
  database.execute('CREATE TABLE a (x INTEGER)')
  const work = () =>
    database.transaction(() => {
      database.run('INSERT INTO a VALUES (1)')
      throw new Error('no')
    })
  expect(work).toThrow('no')
  expect(database.get('SELECT count(*) AS n FROM a')).toMatchObject({ n: 0 })
  database.close()
  rmSync(folder, { recursive: true })
})

it('keeps a second cloud out of its folder, and a killed one does not', () => {
  const folder = makeFolder()
  const lock = DataLock.take(folder)
  expect(() => DataLock.take(folder)).toThrow(CloudError)
  expect(() => DataLock.take(folder)).toThrow(
    new RegExp(`in use by another cloud \\(process ${process.pid}\\)`),
  )
  lock.close()
  // Another process takes it and is killed with it.
  const script = `
    import Libsql from 'libsql'
    new Libsql(process.argv[1]).exec('BEGIN EXCLUSIVE')
    process.kill(process.pid, 'SIGKILL')`
  const run = () =>
    execFileSync(process.execPath, ['--input-type=module', '-e', script, join(folder, 'lock')], {
      cwd: import.meta.dirname,
    })
  expect(run).toThrow(expect.objectContaining({ signal: 'SIGKILL' }))
  DataLock.take(folder).close()
  rmSync(folder, { recursive: true })
})
