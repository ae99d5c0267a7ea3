import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, readlink, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildahProbe } from '../../packages/cloud/src/builders/buildah/buildah-probe.ts'
import { isBefore } from '../../packages/cloud/src/builders/buildah/known-holes.ts'
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

    // On a busy machine buildah itself still loses the last words of a command now and then; twice in a row it would be us.
    describe('as every builder', { retry: 1 }, () => {
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
    })

    it('loses no output, however slowly it is read', async () => {
      const script = `for i in $(seq 0 59); do seq $((i * 1000 + 1)) $((i * 1000 + 1000)); usleep 20000; done
head -c 200000 /dev/zero | tr '\\0' x; echo
printf 'no newline '; usleep 200000; printf 'at the end'
`
      const bench = await Workbench.open({
        Dockerfile: `FROM ${BASE}\nCOPY script.sh /\nRUN sh /script.sh\n`,
        'script.sh': script,
      })
      const block = setInterval(() => {
        const end = performance.now() + 600
        while (performance.now() < end);
      }, 660)
      try {
        expect(await bench.build(builder)).toMatchObject({ ok: true })
      } finally {
        clearInterval(block)
      }
      const numbers = bench.log.text.split('\n').filter((line) => /^\d+$/.test(line))
      expect(numbers).toHaveLength(60_000)
      expect(numbers.every((line, index) => Number(line) === index + 1)).toBe(true)
      expect(bench.log.text).toContain('no newline at the end')
      await builder.remove(bench.input().imageName)
      await bench.close()
    })

    it.skipIf(process.getuid?.() !== 0)('has processes and shared memory of its own', async () => {
      expect(builder.name).toContain('namespaces of its own for processes')
      const leftover = `botcli-${crypto.randomUUID()}`
      const bench = await Workbench.open({
        Dockerfile: `FROM ${BASE}\nRUN readlink /proc/self/ns/pid; readlink /proc/self/ns/ipc; cat /proc/[0-9]*/cmdline | tr '\\0' ' '; echo; echo x > /dev/shm/${leftover} && echo written\n`,
      })
      expect(await bench.build(builder)).toMatchObject({ ok: true })
      for (const kind of ['pid', 'ipc']) {
        expect(bench.log.text).toMatch(new RegExp(`^${kind}:\\[\\d+\\]$`, 'm'))
        expect(bench.log.text).not.toContain(await readlink(`/proc/self/ns/${kind}`))
      }
      // What is there is the build alone.
      expect(bench.log.text).toContain(bench.buildId)
      expect(bench.log.text).not.toContain((await readFile('/proc/self/cmdline', 'utf8')).split('\0')[1])
      expect(bench.log.text).toMatch(/^written$/m)
      expect(existsSync(`/dev/shm/${leftover}`)).toBe(false)
      await builder.remove(bench.input().imageName)
      await bench.close()
    })

    it('does not build what could leave an old version', async () => {
      const bench = await Workbench.open({
        Dockerfile: `FROM ${BASE} AS base\nRUN ln -s / /x\nFROM ${BASE}\nRUN --mount=type=bind,from=base,source=/x,target=/h cat /h/etc/hostname\n`,
      })
      const { stdout } = await run('buildah', ['--version'])
      if (isBefore(/version (\S+)/.exec(stdout)?.[1] ?? '', '1.35.1'))
        expect(await bench.build(builder)).toMatchObject({ failure: { code: 'builder_failed', line: 4 } })
      await bench.close()
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
