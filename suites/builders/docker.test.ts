import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { Builder } from '../../packages/cloud/src/builders/builder.ts'
import { dockerProbe } from '../../packages/cloud/src/builders/docker/docker-probe.ts'
import { EngineClient } from '../../packages/cloud/src/builders/docker/engine-client.ts'
import { Workbench } from '../../packages/cloud/src/testing/workbench.ts'
import { BASE, writeBaseContext } from './base-image.ts'
import { behavesAsBuilder } from './behaviour.ts'
import { debianPrograms } from './debian.ts'
import { Engine, unpackDebian } from './engine.ts'

const notRoot = process.getuid?.() === 0 ? undefined : { skipped: 'only root may start an engine' }
const busybox = { '/usr/bin/busybox': 'busybox-static' }
const noPodman =
  notRoot ?? (await debianPrograms({ ...busybox, '/usr/bin/podman': 'podman', '/usr/sbin/runc': 'runc' }))
const programs = await mkdtemp(join(tmpdir(), 'botcli-dockerd-'))
const noDocker = notRoot ?? (await debianPrograms(busybox)) ?? (await unpackDocker())

async function unpackDocker(): Promise<{ readonly skipped: string } | undefined> {
  try {
    await unpackDebian(['docker.io', 'containerd', 'runc'], programs)
    return undefined
  } catch (error) {
    return { skipped: `its packages could not be had: ${(error as Error).message.trim().split('\n').at(-1)}` }
  }
}

function behaves(
  name: string,
  missing: { readonly skipped: string } | undefined,
  start: () => Promise<Engine>,
): void {
  const title = missing === undefined ? name : `${name} (${missing.skipped})`
  describe.skipIf(missing !== undefined)(title, () => {
    let engine: Engine
    let builder: Builder

    beforeAll(async () => {
      engine = await start()
      const found = await dockerProbe({ DOCKER_HOST: `unix://${engine.socket}` }).probe()
      if ('unavailable' in found) throw new Error(`${found.unavailable}: ${engine.log}`)
      builder = found
      const base = await Workbench.open({})
      await writeBaseContext(join(base.folder, 'context'))
      const result = await base.build(builder, { changes: { imageName: BASE } })
      expect(result, base.log.text).toMatchObject({ ok: true })
      await base.close()
    })

    afterAll(async () => {
      await engine?.close()
    })

    behavesAsBuilder({
      builder: () => builder,
      cached: /Using cache/g,
      leftovers: async () => {
        // Of podman also those that it only builds in.
        const listing = builder.name.startsWith('podman')
          ? '/v4.0.0/libpod/containers/json'
          : '/containers/json'
        const query = { all: 'true', external: 'true' }
        const { body } = await new EngineClient(engine.socket).ask({ method: 'GET', path: listing, query })
        const sleepers = await promisify(execFile)('pgrep', ['-fx', 'sleep 300']).catch(() => ({
          stdout: '',
        }))
        if (sleepers.stdout !== '') return [`sleeping ${sleepers.stdout}`]
        return (body as { Id: string }[]).map(({ Id }) => `container ${Id}`)
      },
      limitsMemory: true,
      limitsDisk: false,
    })
  })
}

behaves('podman, by the API of Docker', noPodman, async () => await Engine.podman())

behaves('Docker', noDocker, async () => await Engine.docker(programs))

afterAll(async () => {
  await rm(programs, { recursive: true, force: true })
})
