import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildahProbe } from '../../packages/cloud/src/builders/buildah/buildah-probe.ts'
import type { Builder } from '../../packages/cloud/src/builders/builder.ts'
import { findLimiter } from '../../packages/cloud/src/builders/limits/find-limiter.ts'
import { Workbench } from '../../packages/cloud/src/testing/workbench.ts'
import { BASE, writeBaseContext } from './base-image.ts'
import { behavesAsBuilder } from './behaviour.ts'
import { debianPrograms } from './debian.ts'

const run = promisify(execFile)
const missing = await debianPrograms({ '/usr/bin/buildah': 'buildah', '/usr/bin/busybox': 'busybox-static' })

describe.skipIf(missing !== undefined)(
  `buildah${missing === undefined ? '' : ` (${missing.skipped})`}`,
  () => {
    let folder: string
    let builder: Builder

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'botcli-buildah-'))
      const found = await buildahProbe({ limiter: findLimiter, storage: join(folder, 'storage') }).probe()
      if ('unavailable' in found) throw new Error(found.unavailable)
      builder = found
      await writeBaseContext(join(folder, 'base'))
      await run('buildah', [
        ...place(),
        'build',
        '--isolation',
        'chroot',
        '--layers',
        '--tag',
        BASE,
        join(folder, 'base'),
      ])
    })

    afterAll(async () => {
      await run('buildah', [...place(), 'rm', '--all'])
      await run('buildah', [...place(), 'rmi', '--all', '--force'])
      await rm(folder, { recursive: true, force: true })
    })

    function place(): readonly string[] {
      return ['--root', join(folder, 'storage/root'), '--runroot', join(folder, 'storage/run')]
    }

    behavesAsBuilder({
      builder: () => builder,
      cached: /Using cache/g,
      leftovers: async () => {
        const containers = (await run('buildah', [...place(), 'containers', '--quiet'])).stdout.split('\n')
        const mounts = (await readFile('/proc/self/mounts', 'utf8')).split('\n')
        return [
          ...containers,
          ...mounts.filter((line) => line.includes(`${folder}/`) && line.includes('/merged')),
        ].filter((line) => line !== '')
      },
      limitsMemory: true,
      limitsDisk: true,
    })

    it('leaves out what the list beside the container build file names, whatever the other list says', async () => {
      const bench = await Workbench.open({
        'bot.Dockerfile': `FROM ${BASE}\nCOPY . /app\nRUN ls /app\n`,
        'bot.Dockerfile.dockerignore': 'left-out.txt\n',
        '.dockerignore': 'taken.txt\n',
        'left-out.txt': '',
        'taken.txt': '',
      })
      const changes = { dockerfilePath: 'bot.Dockerfile' }
      expect(await bench.build(builder, { changes })).toMatchObject({ ok: true })
      expect(bench.log.text).toMatch(/^taken\.txt$/m)
      expect(bench.log.text).not.toMatch(/^left-out\.txt$/m)
      await builder.remove(bench.input().imageName)
      await bench.close()
    })
  },
)
