import { spawn } from 'node:child_process'
import { chmod, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { askProgram } from '../../builders/ask-program.ts'
import { SystemdScope } from '../../builders/limits/systemd-scope.ts'
import { buildProgram, InstanceBench, ready } from '../../testing/instance-bench.ts'
import { ContainerRuns } from '../containers/container-runs.ts'
import { ContainerTools } from '../containers/container-tools.ts'
import { ProcessEngine } from '../process-engine.ts'
import { BundleRuns } from './bundle-runs.ts'

/** A `systemd-run` that wants its bus, and runs the command as the real one does with `--scope`. */
const SYSTEMD_RUN = `#!/bin/sh
[ -n "$XDG_RUNTIME_DIR" ] || exit 1
while [ "$1" != -- ] && [ "$1" != true ]; do shift; done
[ "$1" = true ] || shift
exec "$@"
`

it('starts bundles in scopes of the manager of a user, whose bus they do not see', async () => {
  const program = buildProgram('runner-stand-in')
  const runner = [process.execPath, program]
  const bench = await InstanceBench.open({ runner, sandbox: false })
  const { dataFolder, instances: folder } = bench
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
  try {
    await writeFile(join(dataFolder, 'systemd-run'), SYSTEMD_RUN)
    await chmod(join(dataFolder, 'systemd-run'), 0o755)
    const env = {
      PATH: `${dataFolder}:${process.env.PATH}`,
      XDG_RUNTIME_DIR: '/run/user/7',
      DBUS_SESSION_BUS_ADDRESS: 'unix:path=/run/user/7/bus',
    }
    const cages = await SystemdScope.find(
      async (argv) => {
        const { status, stdout, stderr } = await askProgram(argv, { env })
        return { status: status ?? 127, text: stdout + stderr }
      },
      false,
      env,
    )
    if ('unavailable' in cages) throw new Error(cages.unavailable)
    const tools = new ContainerTools({ imageFolder: join(dataFolder, 'images'), env, clock: Date.now })
    const engine = new ProcessEngine({
      ...{ folder, log },
      bundles: new BundleRuns({ runner, dataFolder, bwrap: undefined, cages, env, spawn, log }),
      containers: await ContainerRuns.open({ tools, env, spawn }),
    })
    const bot = `console.log(JSON.stringify(Object.keys(process.env).filter((name) => /^(?:XDG|DBUS|API)_/.test(name))))`
    const instance = await engine.start(bench.spec(await bench.bundle(bot), { env: { API_KEY: 'x' } }))
    await ready(instance)
    expect(await readFile(instance.outputPath, 'utf8')).toBe('["API_KEY"]\n')
    await instance.stop(20_000)
    expect(await instance.exited).toEqual({ code: 0, signal: null, outOfMemory: false })
    await engine.close()
  } finally {
    await bench.close()
    await rm(program, { force: true })
  }
})
