import type { spawn as nodeSpawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { INSTANCE_VARIABLE } from '@botcli/protocol'
import type { Cage, CageMaker } from '../../builders/limits/cage.ts'
import { processesWith } from '../../builders/limits/processes.ts'
import { spawnAlone } from '../../builders/limits/spawn-alone.ts'
import { type BundleManifest, readBundle } from '../../builders/native/bundle.ts'
import type { CloudLog } from '../../log.ts'
import type { InstanceSpec } from '../engine.ts'
import { INSIDE } from '../inside.ts'
import {
  INSTANCE_ID_VARIABLE,
  instanceMark,
  machineVariables,
  type Variables,
} from '../instance-environment.ts'
import type { InstanceFolder } from '../instance-folder.ts'
import type { BundleRun } from '../instance-record.ts'
import { identify } from '../process-identity.ts'
import { bundleCommand } from './bundle-command.ts'
import { BundleProcess } from './bundle-process.ts'
import { sandboxArguments } from './bundle-sandbox.ts'

/** What bundles are run with. */
export interface BundleRunsOptions {
  /** The command that starts `botcli`. */
  readonly runner: readonly string[]
  readonly dataFolder: string
  /** Bubblewrap, if it works here. */
  readonly bwrap: string | undefined
  /** What limits memory and processors, if anything does. */
  readonly cages: CageMaker | undefined
  readonly env: NodeJS.ProcessEnv
  readonly spawn: typeof nodeSpawn
  readonly log: CloudLog
}

const MAX_PROCESSES = 4096
/** Variables of a container build file that name folders of an image, which are not there in a bundle. */
const OF_THE_IMAGE = /^(?:PATH|HOME|TMPDIR|LD_LIBRARY_PATH|PYTHONHOME|VIRTUAL_ENV)$/

/** Runs bundles of the native builder as processes of this machine. */
export class BundleRuns {
  readonly #options: BundleRunsOptions

  constructor(options: BundleRunsOptions) {
    this.#options = options
  }

  /** In words, for the log. */
  get description(): string {
    const { bwrap, cages } = this.#options
    const limits =
      cages === undefined
        ? 'without limits of the kernel on memory and processors'
        : `limits by ${cages.name}`
    return `bundles ${bwrap === undefined ? 'without a sandbox' : 'in bubblewrap'}, ${limits}`
  }

  /** Why a bundle cannot be run here. */
  async refusal(bundle: string): Promise<string | undefined> {
    const manifest = await readBundle(bundle).catch(() => undefined)
    if (manifest === undefined) return 'The bundle of this build is gone or damaged. Build it again.'
    const { python, node } = manifest
    if (python !== null && !existsSync(python.base))
      return `The Python that this bundle was made with (${python.base}) is gone. Build it again.`
    if (node !== null && major(node) !== major(process.versions.node))
      return `This bundle was made with Node ${node}, and here is Node ${process.versions.node}. Build it again.`
    return undefined
  }

  async start(
    spec: InstanceSpec,
    bundle: string,
    folder: InstanceFolder,
    unwanted: AbortSignal,
  ): Promise<BundleProcess> {
    const { bwrap, cages, log } = this.#options
    const manifest = await readBundle(bundle)
    const sandboxed = bwrap !== undefined
    await folder.writeSettings({
      ...spec.settings,
      version: 1,
      socket: sandboxed ? `${INSIDE.door}/socket` : join(folder.reach, 'door/socket'),
      journal: sandboxed ? INSIDE.journal : folder.journal,
    })
    await folder.writeRecord({ kind: 'bundle', sandboxed, process: null })
    const limits = { ...spec.limits, processes: MAX_PROCESSES }
    const cage = await cages?.open(folder.id, limits).catch((error: unknown) => {
      log.warn('an instance runs without limits of the kernel', { id: folder.id, error })
      return undefined
    })
    try {
      unwanted.throwIfAborted()
      return await this.#spawn(spec.env, { bundle, manifest, folder, cage })
    } catch (error) {
      await cage?.close()
      throw error
    }
  }

  /** One that an earlier process has started. */
  async find(folder: InstanceFolder, run: BundleRun): Promise<BundleProcess> {
    const cage = this.#options.cages?.find(folder.id)
    const identity = run.process ?? (await firstOf(folder.id))
    return new BundleProcess({ folder, sandboxed: run.sandboxed, process: identity, cage, child: undefined })
  }

  /** Removes what the kernel holds of one. */
  async cleanUp(id: string): Promise<void> {
    await this.#options.cages?.cleanUp(id)
  }

  async #spawn(
    secrets: Variables,
    parts: {
      readonly bundle: string
      readonly manifest: BundleManifest
      readonly folder: InstanceFolder
      readonly cage: Cage | undefined
    },
  ): Promise<BundleProcess> {
    const { runner, dataFolder, bwrap, spawn } = this.#options
    const { bundle, manifest, folder, cage } = parts
    const sandboxed = bwrap !== undefined
    const mark = { [INSTANCE_ID_VARIABLE]: folder.id }
    const own = {
      ...Object.fromEntries(Object.entries(manifest.env).filter(([name]) => !OF_THE_IMAGE.test(name))),
      ...secrets,
      ...mark,
      [INSTANCE_VARIABLE]: sandboxed ? INSIDE.settings : folder.settings,
    }
    const machine = machineVariables(this.#options.env)
    const bot = [...runner, ...bundleCommand(bundle, manifest)]
    // Secrets must not be seen in the list of processes, so bubblewrap reads its arguments.
    const hidden = sandboxed
      ? await sandboxArguments({ bundle, manifest, folder, runner, dataFolder, env: own })
      : undefined
    const argv = sandboxed ? [bwrap, '--args', '4', '--', ...bot] : bot
    const command = { argv, env: sandboxed ? { ...machine, ...mark } : { ...machine, ...own } }
    const caged = cage?.enter(command) ?? command
    const output = await open(folder.output, 'a', 0o600)
    const status = await open(folder.status, 'a', 0o600)
    try {
      const child = spawnAlone(spawn, caged.argv, {
        cwd: sandboxed ? folder.path : join(bundle, manifest.workdir),
        env: caged.env,
        // A session of its own: it does not end with us, nor with our terminal.
        detached: true,
        stdio: ['ignore', output.fd, output.fd, status.fd, hidden === undefined ? 'ignore' : 'pipe'],
      })
      const { pid } = child
      if (pid === undefined) throw await new Promise((resolve) => child.once('error', resolve))
      child.on('error', () => undefined)
      const process = identify(pid) ?? { pid, started: 'ended' }
      const found = new BundleProcess({ folder, sandboxed, process, cage, child })
      if (hidden !== undefined) give(child.stdio[4] as Writable, hidden)
      await folder.writeRecord({ kind: 'bundle', sandboxed, process })
      return found
    } finally {
      await output.close()
      await status.close()
    }
  }
}

function give(stream: Writable, words: readonly string[]): void {
  // Whoever ends before it has read them says why in its output.
  stream.on('error', () => undefined)
  stream.end(words.map((word) => `${word}\0`).join(''))
}

/** The first process of an instance whose starter was killed before it could write it down. */
async function firstOf(id: string): Promise<BundleRun['process']> {
  const pids = await processesWith(instanceMark(id))
  const first = pids.length === 0 ? undefined : identify(Math.min(...pids))
  return first ?? null
}

function major(version: string): string {
  return version.split('.')[0] ?? ''
}
