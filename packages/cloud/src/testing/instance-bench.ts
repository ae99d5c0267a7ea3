import { mkdirSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildSync } from 'esbuild'
import { processesWith } from '../builders/limits/processes.ts'
import { writeBundle } from '../builders/native/bundle.ts'
import { podmanStateFolder } from '../engine/containers/container-tools.ts'
import type { Artifact, Engine, Instance, InstanceSpec } from '../engine/engine.ts'
import { HttpInstanceClient } from '../engine/http-instance-client.ts'
import { instanceMark } from '../engine/instance-environment.ts'
import { openProcessEngine } from '../engine/open-process-engine.ts'
import { until } from './cloud-fixture.ts'

/** Where programs of tests are made: below node_modules, so that what is not bundled is found from there. */
export const PROGRAMS = join(import.meta.dirname, '../../../../node_modules/.cache/botcli-cloud')

/** A program of this folder, made of the sources as they are. */
export function buildProgram(name: string): string {
  mkdirSync(PROGRAMS, { recursive: true })
  const outfile = join(PROGRAMS, `${name}-${process.pid}.mjs`)
  buildSync({
    entryPoints: [join(import.meta.dirname, `${name}.ts`)],
    ...{ bundle: true, platform: 'node', format: 'esm', packages: 'external', target: 'node20', outfile },
  })
  return outfile
}

/** A data folder with an engine that runs a stand-in for the runner. */
export class InstanceBench {
  readonly dataFolder: string
  readonly engine: Engine
  readonly runner: readonly string[]
  readonly sandbox: boolean
  readonly env: NodeJS.ProcessEnv
  readonly #root: string

  private constructor(root: string, dataFolder: string, engine: Engine, options: BenchOptions) {
    this.#root = root
    this.dataFolder = dataFolder
    this.engine = engine
    this.runner = options.runner
    this.sandbox = options.sandbox
    this.env = options.env ?? process.env
  }

  static async open(options: BenchOptions): Promise<InstanceBench> {
    const root = await mkdtemp(join(options.within ?? tmpdir(), 'botcli-engine-'))
    const dataFolder = join(root, options.below ?? '', 'data')
    await mkdir(join(dataFolder, 'bundles'), { recursive: true })
    return new InstanceBench(root, dataFolder, await openEngine(dataFolder, options), options)
  }

  /** The engine of a control plane that was started again. */
  async again(): Promise<Engine> {
    return await openEngine(this.dataFolder, this)
  }

  get instances(): string {
    return join(this.dataFolder, 'instances')
  }

  /** A bundle with a bot in JavaScript. */
  async bundle(code: string, env: Readonly<Record<string, string>> = {}): Promise<Artifact> {
    const buildId = crypto.randomUUID()
    const folder = join(this.dataFolder, 'bundles', buildId)
    await mkdir(join(folder, 'app'), { recursive: true })
    await writeFile(join(folder, 'app/bot.mjs'), code)
    await writeBundle(folder, {
      ...{ version: 1, buildId, language: 'node', entry: 'app/bot.mjs', workdir: 'app', python: null, env },
      ...{ node: process.versions.node, command: ['botcli', 'run', 'bot.mjs', '--dialin'] },
    })
    return { kind: 'bundle', folder }
  }

  spec(artifact: Artifact, changes: Partial<InstanceSpec> = {}): InstanceSpec {
    return {
      settings: {
        instanceId: crypto.randomUUID(),
        agentName: 'agent',
        deploymentId: crypto.randomUUID(),
        region: 'local',
        maxSessions: 1,
        maxSessionSeconds: 60,
        maxMemoryBytes: 512 * 1024 * 1024,
        warm: 0,
        orphanSeconds: 60,
        stopSeconds: 10,
      },
      artifact,
      env: {},
      limits: { memoryBytes: 512 * 1024 * 1024, cpus: 1 },
      ...changes,
    }
  }

  async start(code: string, changes: Partial<InstanceSpec> = {}): Promise<Instance> {
    return await this.engine.start(this.spec(await this.bundle(code), changes))
  }

  async close(): Promise<void> {
    const engine = await this.again()
    for (const id of await engine.list()) {
      await (await engine.find(id))?.stop(0)
      await engine.remove(id)
    }
    await engine.close()
    await this.engine.close()
    await rm(podmanStateFolder(join(this.dataFolder, 'images'), this.env), { recursive: true, force: true })
    await rm(this.#root, { recursive: true, force: true })
  }
}

/** How a bench is opened. */
export interface BenchOptions {
  readonly runner: readonly string[]
  readonly sandbox: boolean
  /** Where its folder is made. */
  readonly within?: string
  /** A folder above the data folder. */
  readonly below?: string
  readonly env?: NodeJS.ProcessEnv
}

async function openEngine(
  dataFolder: string,
  { runner, sandbox, env = process.env }: BenchOptions,
): Promise<Engine> {
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
  return await openProcessEngine({
    ...{ dataFolder, folder: join(dataFolder, 'instances'), runner, sandbox, log, env },
  })
}

/** Waits until an instance answers. */
export async function ready(instance: Instance): Promise<void> {
  const client = new HttpInstanceClient()
  let isOver = false
  void instance.exited.then(() => {
    isOver = true
  })
  const answers = async (): Promise<boolean> =>
    await client.info(instance.socketPath).then(
      () => true,
      () => false,
    )
  try {
    await until(async () => isOver || (await answers()), `instance ${instance.id} to answer`)
    if (isOver) throw new Error('it has ended')
  } catch (error) {
    const output = await readFile(instance.outputPath, 'utf8').catch(() => '')
    throw new Error(`it does not answer: ${output.slice(-2000)}`, { cause: error })
  }
}

/** The processes of an instance. */
export async function processesOfInstance(id: string): Promise<readonly number[]> {
  return await processesWith(instanceMark(id))
}
