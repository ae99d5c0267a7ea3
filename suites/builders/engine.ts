import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isListening } from '../../packages/runner/src/testing/unix-sockets.ts'
import { aptGet } from './debian.ts'

const run = promisify(execFile)
const START_MS = 30_000

/** A container engine of this test, in namespaces of its own: it changes nothing of the machine's network or mounts. */
export class Engine {
  readonly folder: string
  readonly #process: ChildProcess
  readonly #log: string[]

  private constructor(folder: string, child: ChildProcess, log: string[]) {
    this.folder = folder
    this.#process = child
    this.#log = log
  }

  /** Starts podman's service. */
  static async podman(): Promise<Engine> {
    const folder = await mkdtemp(join(tmpdir(), 'botcli-podman-'))
    const conf = join(folder, 'containers.conf')
    const ulimits = 'default_ulimits = ["nofile=20000:20000", "nproc=20000:20000"]'
    // The engine has no network, so nor have the builds; runc also works where control groups are of both versions.
    await writeFile(
      conf,
      `[containers]\nnetns = "host"\n${ulimits}\n[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n`,
    )
    const place = [
      '--root',
      join(folder, 'root'),
      '--runroot',
      join(folder, 'run'),
      '--tmpdir',
      join(folder, 'tmp'),
    ]
    return await Engine.#start(folder, ['podman', ...place, 'system', 'service', '--time', '0'], {
      CONTAINERS_CONF: conf,
    })
  }

  /** Starts Docker out of a folder that its package was unpacked into. */
  static async docker(programs: string): Promise<Engine> {
    const folder = await mkdtemp(join(tmpdir(), 'botcli-docker-'))
    const place = [
      '--data-root',
      join(folder, 'root'),
      '--exec-root',
      join(folder, 'run'),
      '--pidfile',
      join(folder, 'pid'),
    ]
    const network = ['--iptables=false', '--ip6tables=false']
    const path = `${join(programs, 'usr/sbin')}:${join(programs, 'usr/bin')}:${process.env.PATH}`
    return await Engine.#start(folder, [join(programs, 'usr/sbin/dockerd'), ...place, ...network, '--host'], {
      PATH: path,
    })
  }

  static async #start(
    folder: string,
    argv: readonly string[],
    env: Readonly<Record<string, string>>,
  ): Promise<Engine> {
    await mkdir(join(folder, 'run'), { recursive: true })
    const log: string[] = []
    const command = [...argv, `unix://${join(folder, 'engine.sock')}`]
    const child = spawn(
      'unshare',
      ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc', ...command],
      {
        env: { ...process.env, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => log.push(String(bytes)))
    const engine = new Engine(folder, child, log)
    const end = performance.now() + START_MS
    while (!(await isListening(engine.socket))) {
      if (child.exitCode !== null || performance.now() > end) {
        await engine.close()
        throw new Error(`the engine did not start: ${log.join('').slice(-2000)}`)
      }
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    return engine
  }

  get socket(): string {
    return join(this.folder, 'engine.sock')
  }

  get log(): string {
    return this.#log.join('')
  }

  async close(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      const gone = once(this.#process, 'exit')
      // It is the first process of its namespace, so the others go with it, and so do their mounts.
      this.#process.kill('SIGKILL')
      await gone
    }
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Unpacks Debian packages into a folder, without installing them. */
export async function unpackDebian(names: readonly string[], folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  await aptGet(['download', '-qq', ...names], folder)
  for (const name of names) await run('sh', ['-c', `dpkg -x ${name}_*.deb .`], { cwd: folder })
}
