import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { KernelKills } from './kernel-kills.ts'

const OTHERS = '9:name=systemd:/\n8:pids:/elsewhere\n'

describe('what the kernel has ended', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'botcli group-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  /** As the kernel writes a path there. */
  const mounted = (name: string) => join(folder, name).replaceAll(' ', '\\040')
  const older = (root: string) =>
    `34 31 0:31 / ${mounted('pids')} rw,relatime - cgroup cgroup rw,pids\n` +
    `35 31 0:32 ${root} ${mounted('memory')} rw,relatime shared:9 - cgroup cgroup rw,memory\n` +
    `41 31 0:38 / ${mounted('unified')} rw,relatime - cgroup2 cgroup2 rw\n`
  const newer = (root: string) =>
    `29 24 0:26 ${root} ${mounted('unified')} rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n`

  async function count(path: string, kills: number): Promise<void> {
    const file = join(folder, path)
    await mkdir(dirname(file), { recursive: true })
    const text = path.endsWith('events')
      ? `low 0\nhigh 0\nmax 31\noom ${kills + 3}\noom_kill ${kills}\noom_group_kill 0\n`
      : `oom_kill_disable 0\nunder_oom 1\noom_kill ${kills}\n`
    await writeFile(file, text)
  }

  it.each([
    ['version 1', `${OTHERS}4:memory:/a/b\n0::/\n`, () => older('/'), 'memory/a/b/memory.oom_control'],
    ['version 1, two in one', `3:cpu,memory:/a\n`, () => older('/'), 'memory/a/memory.oom_control'],
    [
      'version 1 in a container',
      '4:memory:/docker/1\n',
      () => older('/docker/1'),
      'memory/memory.oom_control',
    ],
    ['version 2', `0::/a/b.scope\n`, () => newer('/'), 'unified/a/b.scope/memory.events'],
    ['version 2 in a container', `0::/\n`, () => newer('/'), 'unified/memory.events'],
  ])('is counted in the group of this process: %s', async (_, membership, mounts, path) => {
    await count(path, 4)
    const kills = KernelKills.find({ membership, mounts: mounts() })
    expect(kills.claim()).toBe(false)
    await count(path, 6)
    // Two were ended before the first of them was seen.
    expect([kills.claim(), kills.claim(), kills.claim()]).toEqual([true, true, false])
    await count(path, 7)
    expect([kills.claim(), kills.claim()]).toEqual([true, false])
  })

  it.each([
    ['there are no control groups', '', () => ''],
    ['its group is not shown', '4:memory:/other\n', () => older('/docker/1')],
    ['there is a group, and no file', '0::/a\n', () => newer('/')],
    ['the memory has no group', `${OTHERS}0::/\n`, () => ''],
  ])('is nothing where %s', (_, membership, mounts) => {
    expect(KernelKills.find({ membership, mounts: mounts() }).claim()).toBe(false)
  })

  it('is not what the kernel has ended before, and nobody has missed', async () => {
    await count('unified/a/memory.events', 0)
    let now = 0
    const kills = KernelKills.find({ membership: '0::/a\n', mounts: newer('/') }, () => now)
    await count('unified/a/memory.events', 1)
    kills.look()
    now = 4000
    kills.look()
    expect(kills.claim()).toBe(true)
    await count('unified/a/memory.events', 2)
    kills.look()
    now = 10_000
    kills.look()
    expect(kills.claim()).toBe(false)
    kills.close()
  })

  it('is not what it has ended long before, however often it does so', async () => {
    await count('unified/a/memory.events', 0)
    let now = 0
    const kills = KernelKills.find({ membership: '0::/a\n', mounts: newer('/') }, () => now)
    for (const ended of [1, 2, 3]) {
      now += 4000
      await count('unified/a/memory.events', ended)
      kills.look()
    }
    // Of the three, the last two may be somebody's who is missed only now.
    expect([kills.claim(), kills.claim(), kills.claim()]).toEqual([true, true, false])
    kills.close()
  })

  it('is nothing where an old kernel does not count', async () => {
    await count('memory/a/memory.oom_control', 0)
    await writeFile(join(folder, 'memory/a/memory.oom_control'), 'oom_kill_disable 0\nunder_oom 0\n')
    expect(KernelKills.find({ membership: '4:memory:/a\n', mounts: older('/') }).claim()).toBe(false)
  })
})
