import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { outdatedConfig } from '../agents/outdated-secrets.ts'
import { CloudError } from '../errors.ts'
import { SAMPLE_CONFIG } from '../testing/agent-store-conformance.ts'
import { describeStore } from '../testing/store-conformance.ts'
import { DataLock } from './data-lock.ts'
import { SqliteDatabase } from './sqlite/database.ts'
import { MIGRATIONS, migrate } from './sqlite/migrations.ts'
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

it('opens what was written before secrets had versions', async () => {
  const folder = makeFolder()
  const path = join(folder, 'cloud.db')
  const old = new SqliteDatabase(path)
  migrate(old, MIGRATIONS.slice(0, 3))
  old.execute(`INSERT INTO organizations VALUES ('one', 'One', 'local', 1)`)
  old.execute(`
    INSERT INTO secret_sets VALUES ('one', 'app', 'secret', 'local', 1, 20), ('one', 'pull', 'imagePullSecret', 'local', 1, 99);
    INSERT INTO secrets VALUES ('one', 'app', 'A', x'a2', 20), ('one', 'pull', 'auth', x'b2', 99);
    INSERT INTO former_secrets (organization_id, set_name, key, sealed, replaced_at)
      VALUES ('one', 'app', 'A', x'a0', 9), ('one', 'app', 'A', x'a1', 20), ('one', 'app', 'GONE', x'c1', 20);`)
  const config = JSON.stringify({ ...SAMPLE_CONFIG, secretSet: 'app', imagePullSecretSet: 'pull' })
  // One was deployed again after the change; the cloud was killed before it came to the other.
  for (const [agent, createdAt] of [
    ['done', 21],
    ['due', 10],
  ] as const) {
    old.execute(`
      INSERT INTO agents (id, organization_id, name, region, min_agents, max_agents, desired_deployment_id, created_at, updated_at)
        VALUES ('${agent}', 'one', '${agent}', 'local', 0, 1, 'd-${agent}', 1, 1);
      INSERT INTO deployments (id, agent_id, number, reason, config, phase, phase_started_at, created_at, updated_at)
        VALUES ('d-${agent}', '${agent}', 1, 'create', '${config}', 'Active', 1, ${createdAt}, 1);
      INSERT INTO instances (id, agent_id, deployment_id, created_at) VALUES ('i-${agent}', '${agent}', 'd-${agent}', ${createdAt});`)
  }
  old.close()
  const store = new SqliteStore(path)
  const outdated = async (id: string) => {
    const agent = await store.agents.get('one', id)
    return agent && (await outdatedConfig(store, agent))
  }
  expect(await outdated('done')).toBeUndefined()
  expect(await outdated('due')).toEqual(JSON.parse(config))
  for (const id of ['done', 'due']) {
    const { secretsVersion = -1 } = (await store.agents.deployment(id, `d-${id}`)) ?? {}
    // What was given to everybody then: the newest.
    const given = async (name: string) =>
      (await store.secrets.secrets('one', name, secretsVersion)).map(({ key, sealed }) => [key, sealed[0]])
    expect(await given('app')).toEqual([['A', 0xa2]])
    expect(await given('pull')).toEqual([['auth', 0xb2]])
  }
  const known = async () => (await store.secrets.known('one')).map(({ sealed }) => sealed[0]).toSorted()
  await store.secrets.pruneFormer()
  expect(await known()).toEqual([0xa0, 0xa1, 0xa2, 0xb2, 0xc1])
  for (const id of ['done', 'due']) {
    await store.agents.setPhase(`d-${id}`, 'Retired', 50)
    await store.agents.instanceEnded(`i-${id}`, 50)
  }
  await store.secrets.pruneFormer()
  expect(await known()).toEqual([0xa2, 0xb2])
  await store.close()
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
