import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BuildRecord, isFinal } from '@botcli/protocol/cloud'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { SqliteStore } from './store/sqlite-store.ts'
import { CloudFixture, packed, until } from './testing/cloud-fixture.ts'
import { buildCloudProcess, KillableCloud } from './testing/killable-cloud.ts'

describe('a cloud that is stopped', () => {
  it('ends what it builds, and goes on with what waits', async () => {
    const cloud = await CloudFixture.start({ config: { builds: { concurrency: 1 } } })
    const running = await cloud.build({ Dockerfile: 'RUN echo begun; sleep 60\n' })
    await until(async () => (await cloud.logs(running.build.id)).includes('begun'), 'the build to run')
    const waiting = await cloud.build({ Dockerfile: 'RUN echo after the restart\n' })
    await cloud.restart()
    expect(await cloud.record(running.build.id)).toMatchObject({
      ...{ status: 'failed', failure: { code: 'builder_lost' } },
    })
    expect((await cloud.logs(running.build.id)).slice(-2)[0]).toMatch(/^Failed: The cloud was stopped/)
    expect(await cloud.ended(waiting.build.id)).toMatchObject({ status: 'success' })
    await cloud.close()
  })

  it('lets a build end by itself within its deadline', async () => {
    const cloud = await CloudFixture.start()
    const { build } = await cloud.build({ Dockerfile: 'RUN echo begun; sleep 0.5; echo done\n' })
    await until(async () => (await cloud.logs(build.id)).includes('begun'), 'the build to run')
    await cloud.restart({ deadlineMs: 20_000 })
    expect(await cloud.record(build.id)).toMatchObject({ status: 'success' })
    await cloud.close()
  })

  it('shows its keys once', async () => {
    const cloud = await CloudFixture.start()
    expect(cloud.cloud.firstKeys).toMatchObject({
      privateKey: expect.stringMatching(/^sk_/),
      publicKey: expect.stringMatching(/^pk_/),
    })
    await cloud.restart()
    expect(cloud.cloud.firstKeys).toBeUndefined()
    expect((await cloud.request('/v1/keys')).status).toBe(200)
    await cloud.close()
  })

  it('makes a new key when it is asked to, also where there are as many as may be', async () => {
    const cloud = await CloudFixture.start()
    let status = 0
    for (let count = 0; status !== 409 && count < 200; count += 1) {
      ;({ status } = await cloud.send('POST', '/v1/keys', { name: `key ${count}`, family: 'public' }))
    }
    expect(status).toBe(409)
    await cloud.restart()
    expect(cloud.cloud.newKey).toBeUndefined()
    await cloud.restart({ newKey: true })
    const key = cloud.cloud.newKey ?? ''
    expect(key).toMatch(/^sk_/)
    expect((await cloud.request('/v1/keys', { key })).status).toBe(200)
    expect((await cloud.request('/v1/keys')).status).toBe(200)
    await cloud.close()
  })

  it('refuses to start without its key file, with a broken configuration, and beside another one', async () => {
    const cloud = await CloudFixture.start()
    await expect(cloud.open()).rejects.toThrow(/in use by another cloud/)
    expect((await cloud.request('/v1/keys')).status).toBe(200)
    await cloud.cloud.close({ deadlineMs: 0 })
    rmSync(join(cloud.folder, 'secret.key'))
    await expect(cloud.open()).rejects.toThrow(/key file .* is gone/)
    await cloud.close()
    await expect(CloudFixture.start({ config: { regions: [] } })).rejects.toThrow(
      /cloud.json is not valid: regions/,
    )
  })
})

describe('a build that is begun', () => {
  it('is ended as noted when only the last step is missing', async () => {
    const cloud = await CloudFixture.start()
    const { build } = await cloud.build({ Dockerfile: 'RUN echo done\n' })
    const { imageUri } = await cloud.ended(build.id)
    await cloud.cloud.close({ deadlineMs: 0 })
    // As a crash between the seal of the log and the final status has left it.
    const { default: Libsql } = await import('libsql')
    const database = new Libsql(join(cloud.folder, 'cloud.db'))
    const outcome = {
      status: 'success',
      imageUri,
      imageSizeBytes: 36,
      errorMessage: null,
      failure: null,
      builder: 'b',
      bases: [],
    }
    database
      .prepare(
        `UPDATE builds SET status = 'building', lease_owner = 'x', lease_until = 9e15, image_uri = NULL, outcome = ?`,
      )
      .run([JSON.stringify(outcome)])
    database.close()
    await cloud.open()
    expect(await cloud.record(build.id)).toMatchObject({ status: 'success', imageUri })
    expect((await cloud.logs(build.id)).at(-1)).toMatch(/^Built/)
    await cloud.close()
  })
})

describe('a cloud that is killed', () => {
  let program: string
  let folder: string
  let cloud: KillableCloud
  beforeAll(() => {
    program = buildCloudProcess()
  })
  afterAll(() => rmSync(program))
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'botcli-killed-'))
  })
  afterEach(async () => {
    await cloud.kill()
    rmSync(folder, { recursive: true, force: true })
  })

  const call = async (path: string, key: string, init: RequestInit = {}): Promise<unknown> => {
    const response = await fetch(`${cloud.url}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${key}` },
    })
    return response.json()
  }
  const createBuild = async (key: string, script: string): Promise<string> => {
    const region = 'local'
    const place = (await call('/v1/builds/upload-url', key, {
      ...{ method: 'POST', body: JSON.stringify({ region }) },
    })) as { uploadId: string; uploadUrl: string; uploadFields: Record<string, string> }
    const form = new FormData()
    for (const [name, value] of Object.entries(place.uploadFields)) form.append(name, value)
    form.append('file', new Blob([new Uint8Array(await packed({ Dockerfile: script }))]))
    await fetch(place.uploadUrl, { method: 'POST', body: form })
    const body = JSON.stringify({ uploadId: place.uploadId, region, noCache: true })
    const { build } = (await call('/v1/builds', key, { method: 'POST', body })) as { build: BuildRecord }
    return build.id
  }
  const record = async (id: string, key: string): Promise<BuildRecord> =>
    ((await call(`/v1/builds/${id}`, key)) as { build: BuildRecord }).build
  const logs = async (id: string, key: string): Promise<readonly string[]> =>
    ((await call(`/v1/builds/${id}/logs?limit=10000`, key)) as { logs: string[] }).logs

  // The delays walk through the life of a build: before it begins, while it runs, while it ends.
  it('at any time, loses no build, no final outcome and no line that was seen, and leaves nothing stuck', async () => {
    cloud = await KillableCloud.start(program, folder)
    const key = cloud.keys?.privateKey ?? ''
    const script =
      'RUN i=0; while [ $i -lt 60 ]; do echo line $i; i=$((i+1)); [ $((i % 20)) -eq 0 ] && sleep 0.02; done; true\n'
    const seen = new Map<string, readonly string[]>()
    const known = new Map<string, BuildRecord>()
    for (const delay of [0, 5, 15, 30, 45, 60, 75, 90, 105, 120, 140, 170]) {
      const created = await Promise.all([createBuild(key, script), createBuild(key, script)])
      for (const id of created) seen.set(id, [])
      await new Promise((resolve) => setTimeout(resolve, delay))
      for (const id of created) {
        known.set(id, await record(id, key))
        seen.set(id, await logs(id, key))
      }
      await cloud.kill()
      cloud = await KillableCloud.start(program, folder)
    }
    for (const [id, before] of seen) {
      const ended = await until(async () => {
        const now = await record(id, key)
        return isFinal(now.status) && now
      }, `build ${id} to end`)
      const lines = await logs(id, key)
      expect(lines.slice(0, before.length)).toEqual(before)
      const earlier = known.get(id)
      if (earlier && isFinal(earlier.status)) expect(ended).toEqual(earlier)
      if (ended.status === 'failed') {
        expect(ended.failure?.code).toBe('builder_lost')
        expect(lines.at(-2)).toBe(`Failed: ${ended.errorMessage}`)
      } else {
        expect(ended.status).toBe('success')
        expect(lines.filter((line) => /^line \d+$/.test(line))).toHaveLength(60)
        expect(lines.at(-1)).toMatch(/^Built/)
      }
    }
    expect(existsSync(join(folder, 'work')) ? readdirSync(join(folder, 'work')) : []).toEqual([])
  })

  it('while it builds, ends the build with a line that says so, after those that were there', async () => {
    cloud = await KillableCloud.start(program, folder)
    const key = cloud.keys?.privateKey ?? ''
    const id = await createBuild(key, 'RUN echo begun; sleep 20\n')
    await until(async () => (await logs(id, key)).includes('begun'), 'the build to run')
    const before = await logs(id, key)
    await cloud.kill()
    cloud = await KillableCloud.start(program, folder)
    const ended = await record(id, key)
    expect(ended).toMatchObject({ status: 'failed', failure: { code: 'builder_lost' } })
    expect(await logs(id, key)).toEqual([
      ...before,
      `Failed: ${ended.errorMessage}`,
      `Hint: ${ended.failure?.hint}`,
    ])
  })

  it('at any step of what it writes, leaves every build that it has taken with an end and a sealed log', async () => {
    cloud = await KillableCloud.start(program, folder)
    const key = cloud.keys?.privateKey ?? ''
    const list = async (): Promise<readonly BuildRecord[]> =>
      ((await call('/v1/builds?limit=100', key)) as { builds: BuildRecord[] }).builds
    let isLast = false
    for (let step = 1; !isLast; step += 1) {
      await cloud.kill()
      cloud = await KillableCloud.start(program, folder, { killAt: step })
      // What the one before has left; its own steps are counted from its own build on.
      await until(async () => (await list()).every(({ status }) => isFinal(status)), 'all builds to be over')
      const id = await createBuild(key, 'RUN echo one\nRUN echo two\n').catch(() => undefined)
      const isOver = async (): Promise<boolean> =>
        id !== undefined && isFinal((await record(id, key).catch(() => undefined))?.status ?? 'pending')
      await until(async () => cloud.isGone || (await isOver()), 'the kill or the end')
      isLast = !cloud.isGone
    }
    await cloud.kill()
    cloud = await KillableCloud.start(program, folder)
    const builds = await list()
    expect(builds.length).toBeGreaterThan(15)
    expect(new Set(builds.map(({ status }) => status))).toEqual(new Set(['failed', 'success']))
    for (const { id, status } of builds) {
      const stream = await fetch(`${cloud.url}/v1/builds/${id}/logs`, {
        headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream' },
      })
      // Only a sealed log has an end.
      expect(await stream.text()).toContain(`{"status":"${status}"`)
      // It tells one outcome, once.
      const told = (await logs(id, key)).filter((line) => /^(?:Built|Failed:) /.test(line))
      expect(told).toEqual([expect.stringMatching(status === 'success' ? /^Built/ : /^Failed/)])
    }
  }, 180_000)

  it('in the middle of cancelling, still ends the build as cancelled', async () => {
    cloud = await KillableCloud.start(program, folder)
    const key = cloud.keys?.privateKey ?? ''
    const id = await createBuild(key, 'RUN echo begun; sleep 20\n')
    await until(async () => (await logs(id, key)).includes('begun'), 'the build to run')
    await cloud.kill()
    const store = new SqliteStore(join(folder, 'cloud.db'))
    const organization = await store.organizations.first()
    await store.builds.requestCancel(organization?.id ?? '', id, Date.now(), Date.now() + 60_000)
    await store.close()
    cloud = await KillableCloud.start(program, folder)
    expect(await record(id, key)).toMatchObject({ status: 'failed', failure: { code: 'cancelled' } })
  })

  it('keeps what it has answered: keys, secrets, revocations', async () => {
    cloud = await KillableCloud.start(program, folder)
    const key = cloud.keys?.privateKey ?? ''
    for (let round = 0; round < 5; round += 1) {
      const body = JSON.stringify({ name: `round ${round}`, family: 'private' })
      const made = (await call('/v1/keys', key, { method: 'POST', body })) as {
        key: string
        record: { id: string }
      }
      await call(`/v1/secrets/round-${round}`, key, {
        method: 'PUT',
        body: JSON.stringify({ secrets: [{ secretKey: 'A', secretValue: 'value' }] }),
      })
      if (round % 2 === 0) await call(`/v1/keys/${made.record.id}`, key, { method: 'DELETE' })
      await cloud.kill()
      cloud = await KillableCloud.start(program, folder)
      const answer = await call(`/v1/secrets/round-${round}`, made.key)
      expect(answer).toMatchObject(round % 2 === 0 ? { code: 'UNAUTHORIZED' } : { status: 'ready' })
    }
  })
})
