import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { CgroupV2 } from './cgroup-v2.ts'

/** Files as the kernel would offer them. What it does with them cannot be tried where it does not offer them. */
let mount: string
const membership = '0::/service\n'

beforeEach(async () => {
  mount = await mkdtemp(join(tmpdir(), 'botcli-cgroup-'))
  await mkdir(join(mount, 'service'))
  await writeFile(join(mount, 'service/cgroup.controllers'), 'cpu memory pids\n')
  await writeFile(join(mount, 'service/cgroup.subtree_control'), '')
})
afterEach(async () => {
  await rm(mount, { recursive: true, force: true })
})

it('is not there without a controller for memory', async () => {
  await writeFile(join(mount, 'service/cgroup.controllers'), 'hugetlb\n')
  const found = await CgroupV2.find({ mount, membership, pid: process.pid })
  expect(found).toEqual({ unavailable: 'cgroup v2 has no controller for memory and pids here' })
})

it('is not there where only version 1 is', async () => {
  expect(await CgroupV2.find({ mount, membership: '4:memory:/x\n', pid: 1 })).toEqual({
    unavailable: 'cgroup v2 is not mounted',
  })
})

it('does not move processes of others', async () => {
  await writeFile(join(mount, 'service/cgroup.procs'), `${process.pid}\n1\n`)
  const found = await CgroupV2.find({ mount, membership, pid: process.pid })
  expect(found).toEqual({ unavailable: expect.stringContaining('others are in its group') })
})

it('moves itself out of the way before it divides its group', async () => {
  await writeFile(join(mount, 'service/cgroup.procs'), `${process.pid}\n`)
  // No kernel puts files into the new group, so it is not taken in the end.
  expect(await CgroupV2.find({ mount, membership, pid: process.pid })).toHaveProperty('unavailable')
  expect(await readFile(join(mount, 'service/botcli-self/cgroup.procs'), 'utf8')).toBe(String(process.pid))
  expect(await readFile(join(mount, 'service/cgroup.subtree_control'), 'utf8')).toBe('+memory +pids')
})
