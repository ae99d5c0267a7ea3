import { spawn as nodeSpawn } from 'node:child_process'
import { join } from 'node:path'
import { findCages, findSandbox } from '../builders/limits/find-limiter.ts'
import { makeDataFolder } from '../data-folder.ts'
import type { Clock, CloudLog } from '../log.ts'
import { BundleRuns } from './bundles/bundle-runs.ts'
import { ContainerRuns } from './containers/container-runs.ts'
import { ContainerTools } from './containers/container-tools.ts'
import type { Engine } from './engine.ts'
import { ProcessEngine } from './process-engine.ts'

/** How the engine of one machine is opened. */
export interface ProcessEngineOptions {
  readonly dataFolder: string
  /** The folder of the instances, in the data folder. */
  readonly folder: string
  /** The command that starts `botcli`. */
  readonly runner: readonly string[]
  readonly log: CloudLog
  readonly clock?: Clock
  /** The environment of the machine; what is in it is passed on only by name. */
  readonly env?: NodeJS.ProcessEnv
  readonly spawn?: typeof nodeSpawn
  /** Whether bundles are put into a sandbox where there is one. */
  readonly sandbox?: boolean
}

/** Looks what this machine can run instances with. */
export async function openProcessEngine(options: ProcessEngineOptions): Promise<Engine> {
  const { dataFolder, folder, runner, log, clock = Date.now, env = process.env, spawn = nodeSpawn } = options
  await makeDataFolder(folder, [])
  const sandbox = options.sandbox === false ? { unavailable: 'it is not wanted' } : await findSandbox()
  if ('unavailable' in sandbox)
    log.warn('bots of bundles run without a sandbox', {
      why: sandbox.unavailable,
      hint: 'Install bubblewrap, and bots cannot read what this user can.',
    })
  const notes: string[] = []
  // A scope of systemd is no part of our own service, so it also outlives a restart of that.
  const cages = await findCages(['systemd', 'cgroup v2', 'cgroup v1'], notes)
  if (cages === undefined) log.warn('instances run without limits of the kernel', { notes })
  const bwrap = 'bwrap' in sandbox ? sandbox.bwrap : undefined
  const tools = new ContainerTools({ imageFolder: join(dataFolder, 'images'), env, clock })
  return new ProcessEngine({
    folder,
    bundles: new BundleRuns({ runner, dataFolder, bwrap, cages, env, spawn, log }),
    containers: await ContainerRuns.open({ tools, env, spawn }),
    log,
  })
}
