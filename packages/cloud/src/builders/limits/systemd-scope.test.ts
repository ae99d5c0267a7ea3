import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { askProgram } from '../ask-program.ts'
import { Limiter } from './limiter.ts'
import { SystemdScope } from './systemd-scope.ts'

/** A `systemd-run` that wants its bus, says what it has, and runs the command as the real one does with `--scope`. */
const SYSTEMD_RUN = `#!/bin/sh
if [ -z "$XDG_RUNTIME_DIR" ]; then echo 'Failed to connect to bus: No medium found' >&2; exit 1; fi
echo "entered by $XDG_RUNTIME_DIR $DBUS_SESSION_BUS_ADDRESS"
while [ "$1" != -- ] && [ "$1" != true ]; do shift; done
[ "$1" = true ] || shift
exec "$@"
`
const BUS = { XDG_RUNTIME_DIR: '/run/user/7', DBUS_SESSION_BUS_ADDRESS: 'unix:path=/run/user/7/bus' }
const LIMITS = { seconds: 30, memoryBytes: 2 ** 28, processes: 30, diskBytes: 2 ** 24 }
const SHOW = ['sh', '-c', 'echo "sees [$XDG_RUNTIME_DIR] [$DBUS_SESSION_BUS_ADDRESS]"']

let folder: string
let path: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'botcli-systemd-'))
  path = `${folder}:${process.env.PATH}`
  await writeFile(join(folder, 'systemd-run'), SYSTEMD_RUN)
  await chmod(join(folder, 'systemd-run'), 0o755)
})

afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

/** Of before version 253. */
const OLD_SYSTEMD_RUN = `#!/bin/sh
case "$*" in *OOMPolicy*) echo 'Unknown assignment: OOMPolicy=kill' >&2; exit 1;; esac
echo "$@" | grep -o 'MemoryMax=[0-9]*'
while [ "$1" != -- ] && [ "$1" != true ]; do shift; done
[ "$1" = true ] || shift
exec "$@"
`

async function scopes(isRoot: boolean, env: NodeJS.ProcessEnv): Promise<SystemdScope> {
  const found = await SystemdScope.find(
    async (argv) => {
      const { status, stdout, stderr } = await askProgram(argv, { env: { PATH: path, ...BUS } })
      return { status: status ?? 127, text: stdout + stderr }
    },
    isRoot,
    env,
  )
  if ('unavailable' in found) throw new Error(found.unavailable)
  return found
}

/** What a command of a build prints. */
async function printed(cages: SystemdScope, env: Readonly<Record<string, string>>): Promise<string> {
  let text = ''
  const limiter = new Limiter({ cages, bwrap: undefined, prlimit: false, notes: [] })
  const signal = new AbortController().signal
  const held = await limiter.open({
    ...{ buildId: crypto.randomUUID(), limits: LIMITS, signal },
    disk: async () => 0,
  })
  await held.run({
    ...{ argv: SHOW, cwd: folder, env: { PATH: path, ...env } },
    output: (bytes) => {
      text += Buffer.from(bytes).toString()
    },
  })
  await held.close()
  return text
}

describe('a scope of the manager of a user', () => {
  it('is entered by our bus, of which the command sees nothing', async () => {
    const cages = await scopes(false, BUS)
    expect(await printed(cages, {})).toBe('entered by /run/user/7 unix:path=/run/user/7/bus\nsees [] []\n')
  })

  it('leaves a command its own variables, and is not entered by them', async () => {
    const cages = await scopes(false, { XDG_RUNTIME_DIR: '/run/user/7' })
    const own = { XDG_RUNTIME_DIR: '/tmp/own', DBUS_SESSION_BUS_ADDRESS: 'unix:path=/tmp/own/bus' }
    expect(await printed(cages, own)).toBe(
      'entered by /run/user/7 \nsees [/tmp/own] [unix:path=/tmp/own/bus]\n',
    )
    expect(await printed(cages, { XDG_RUNTIME_DIR: '/run/user/7' })).toBe(
      'entered by /run/user/7 \nsees [/run/user/7] []\n',
    )
  })
})

it('a scope of the manager of the system is given nothing', async () => {
  const cages = await scopes(true, BUS)
  expect(await printed(cages, {})).toContain('Failed to connect to bus')
})

it('a scope of an older systemd does without what that does not know', async () => {
  await writeFile(join(folder, 'systemd-run'), OLD_SYSTEMD_RUN)
  const cages = await scopes(true, {})
  expect(await printed(cages, {})).toBe(`MemoryMax=${LIMITS.memoryBytes}\nsees [] []\n`)
})
