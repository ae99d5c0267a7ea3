import type { spawn as nodeSpawn } from 'node:child_process'
import { type FileHandle, open, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { INSTANCE_VARIABLE } from '@botcli/protocol'
import { spawnAlone } from '../../builders/limits/spawn-alone.ts'
import type { Artifact, InstanceSpec } from '../engine.ts'
import { INSIDE } from '../inside.ts'
import { containerVariables, INSTANCE_ID_VARIABLE, type Variables } from '../instance-environment.ts'
import type { InstanceFolder } from '../instance-folder.ts'
import type { ContainerRun } from '../instance-record.ts'
import { identify, signalTo } from '../process-identity.ts'
import { unlessAborted } from '../unless-aborted.ts'
import { ContainerProcess } from './container-process.ts'
import { ContainerTool } from './container-tool.ts'
import type { ContainerTools, UsableTool } from './container-tools.ts'

type Image = Extract<Artifact, { kind: 'image' }>

const INSTALL =
  'Install podman (on Debian: apt-get install podman) or Docker, for the user that runs the cloud.'
const MAX_PROCESSES = '4096'
/** Variables that would change what the engine's own program does. */
const OF_THE_PROGRAM =
  /^(?:PATH|HOME|USER|TMPDIR|LANG|TZ|LC_.*|LD_.*|GLIBC_.*|MALLOC_.*|GO[A-Z]+|XDG_.*|DBUS_.*|_?DOCKER_.*|BUILDKIT_.*|_?CONTAINERS?_.*|PODMAN_.*|STORAGE_.*|REGISTRY_.*|NOTIFY_SOCKET|LISTEN_.*|SSL_CERT_.*|.*_PROXY)$/i

/** Runs images as containers of an engine of this machine. */
export class ContainerRuns {
  /** In words, for the log. */
  readonly description: string
  readonly #tools: ContainerTools
  readonly #env: NodeJS.ProcessEnv
  readonly #spawn: typeof nodeSpawn

  private constructor(options: ContainerRunsOptions, names: readonly string[]) {
    this.description = names.length === 0 ? 'no images: no container engine' : `images by ${names.join(', ')}`
    this.#tools = options.tools
    this.#env = options.env
    this.#spawn = options.spawn
  }

  static async open(options: ContainerRunsOptions): Promise<ContainerRuns> {
    const all = await options.tools.all()
    return new ContainerRuns(options, [...new Set(all.map(({ name }) => name))])
  }

  /** Why an image cannot be run here. */
  async refusal(image: Image): Promise<string | undefined> {
    const all = await this.#tools.all()
    if (image.foreign !== undefined)
      return all.length === 0 ? `There is no container engine here to run images with. ${INSTALL}` : undefined
    if ((await this.#tools.having(image.name)) !== undefined) return undefined
    if (await this.#tools.isOnlyBuilt(image.name))
      return `The image was built with buildah, and there is nothing here to run it. ${INSTALL}`
    return `The image ${image.name} is not on this machine any more, or the engine that has it does not run. Start the engine, or build it again.`
  }

  async start(
    spec: InstanceSpec,
    image: Image,
    folder: InstanceFolder,
    unwanted: AbortSignal,
  ): Promise<ContainerProcess> {
    const usable = await this.#toolFor(image, folder, unwanted)
    await folder.openToContainer()
    await folder.writeSettings({
      ...spec.settings,
      version: 1,
      socket: `${INSIDE.door}/socket`,
      journal: INSIDE.journal,
    })
    // The last moment at which nothing but the folder is there: afterwards it has to be stopped.
    unwanted.throwIfAborted()
    const { command } = usable.tool
    const run: ContainerRun = {
      kind: 'container',
      command: [...command],
      name: `botcli-${folder.id}`,
      client: null,
    }
    await folder.writeRecord(run)
    return await this.#spawnClient(spec, image.name, folder, usable, run)
  }

  /** One that an earlier process has started. */
  async find(_folder: InstanceFolder, run: ContainerRun): Promise<ContainerProcess> {
    return new ContainerProcess(new ContainerTool(run.command[0] ?? '', run.command), run, undefined)
  }

  async close(): Promise<void> {
    await this.#tools.close()
  }

  /** Removes what the engine has of one. */
  async remove(run: ContainerRun): Promise<void> {
    // So that it makes none after that.
    if (run.client !== null) signalTo(run.client, 'SIGKILL')
    await new ContainerTool(run.command[0] ?? '', run.command).remove(run.name)
  }

  /** A foreign image is always asked for: that it is here does not mean that they may have it. */
  async #toolFor(
    { name, foreign }: Image,
    folder: InstanceFolder,
    unwanted: AbortSignal,
  ): Promise<UsableTool> {
    const tool = await unlessAborted(unwanted, async () =>
      foreign === undefined ? await this.#tools.having(name) : (await this.#tools.all())[0],
    )
    if (tool === undefined) throw new Error(`There is no container engine here that has ${name}.`)
    if (foreign !== undefined)
      await tool.pull(name, {
        credentials: foreign.credentials,
        scratch: folder.path,
        env: { [INSTANCE_ID_VARIABLE]: folder.id },
        signal: unwanted,
        spawn: this.#spawn,
      })
    return await unlessAborted(unwanted, () => this.#tools.usable(tool, name))
  }

  async #spawnClient(
    spec: InstanceSpec,
    image: string,
    folder: InstanceFolder,
    usable: UsableTool,
    run: ContainerRun,
  ): Promise<ContainerProcess> {
    const { plain, guarded } = divided(spec.env)
    const argv = [
      ...usable.tool.command,
      'run',
      ...['--name', run.name, '--label', `botcli.instance=${folder.id}`, '--pull', 'never'],
      ...usable.run,
      ...runOptions(spec, folder, usable),
      // Only names: values would be seen in the list of processes.
      ...[INSTANCE_VARIABLE, INSTANCE_ID_VARIABLE, ...Object.keys(plain)].flatMap((name) => ['--env', name]),
      ...(guarded === undefined ? [] : ['--env-file', '/dev/fd/3']),
      image,
    ]
    const output = await open(folder.output, 'a', 0o600)
    const file =
      guarded === undefined ? undefined : await unnamedFile(join(folder.path, 'variables'), guarded)
    try {
      const child = spawnAlone(this.#spawn, argv, {
        cwd: folder.path,
        env: {
          ...plain,
          ...containerVariables(this.#env),
          [INSTANCE_VARIABLE]: INSIDE.settings,
          [INSTANCE_ID_VARIABLE]: folder.id,
        },
        // A session of its own: it does not end with us, nor with our terminal.
        detached: true,
        stdio: ['ignore', output.fd, output.fd, file === undefined ? 'ignore' : file.fd],
      })
      const { pid } = child
      if (pid === undefined) throw await new Promise((resolve) => child.once('error', resolve))
      child.on('error', () => undefined)
      const started: ContainerRun = { ...run, client: identify(pid) ?? null }
      const process = new ContainerProcess(usable.tool, started, child)
      await folder.writeRecord(started)
      return process
    } finally {
      await output.close()
      await file?.close()
    }
  }
}

/** What images are run with. */
export interface ContainerRunsOptions {
  readonly tools: ContainerTools
  readonly env: NodeJS.ProcessEnv
  readonly spawn: typeof nodeSpawn
}

function runOptions({ limits }: InstanceSpec, folder: InstanceFolder, usable: UsableTool): readonly string[] {
  const bytes = String(limits.memoryBytes)
  // Without a colon in it, and with the mark that lets it in where SELinux guards the machine.
  const mount = (from: string, to: string, mode: string) => [
    '--volume',
    `${join(folder.reach, from)}:${to}:${mode}`,
  ]
  return [
    // WebRTC takes UDP ports as it goes, each for one call: an engine would have to know all of them before, with a forwarding process
    // or rule for each, and clients would be told an address that only the container has.
    ...['--network', 'host', '--log-driver', 'none', '--security-opt', 'no-new-privileges'],
    ...['--pids-limit', MAX_PROCESSES],
    ...(usable.limits ? ['--memory', bytes, '--memory-swap', bytes, '--cpus', String(limits.cpus)] : []),
    ...mount('settings.json', INSIDE.settings, 'ro,Z'),
    ...mount('journal', INSIDE.journal, 'Z'),
    ...mount('door', INSIDE.door, 'Z'),
  ]
}

/** Variables by how they reach the container: in the environment of the engine's program, or, if they would change it, as a file. */
function divided(env: Variables): { readonly plain: Variables; readonly guarded: string | undefined } {
  const all = Object.entries(env)
  const guarded = all.filter(([name]) => OF_THE_PROGRAM.test(name))
  const broken = guarded.find(([, value]) => /[\r\n]/.test(value))
  if (broken !== undefined)
    throw new Error(
      `The secret ${broken[0]} has a line break, which a variable of this name cannot have here.`,
    )
  return {
    plain: Object.fromEntries(all.filter(([name]) => !OF_THE_PROGRAM.test(name))),
    guarded: guarded.length === 0 ? undefined : guarded.map(([name, value]) => `${name}=${value}\n`).join(''),
  }
}

/** An open file without a name: only whoever it is handed to can read it. */
async function unnamedFile(path: string, text: string): Promise<FileHandle> {
  await writeFile(path, text, { mode: 0o600 })
  try {
    return await open(path, 'r')
  } finally {
    await rm(path)
  }
}
