import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { until } from '../../packages/runner/src/testing/runner-fixture.ts'
import { clientFiles } from '../../packages/scaffold/src/client/index.ts'
import type { Configuration } from '../../packages/scaffold/src/configuration.ts'

const run = promisify(execFile)
const LIMIT_MS = 110_000

/** What has to be typed after `node` to serve a client: as it was built, or while it is worked on. */
const SERVERS = {
  vite: {
    built: ['node_modules/vite/bin/vite.js', 'preview', '--strictPort', '--port'],
    dev: ['node_modules/vite/bin/vite.js', '--strictPort', '--port'],
  },
  nextjs: {
    built: ['node_modules/next/dist/bin/next', 'start', '--port'],
    dev: ['node_modules/next/dist/bin/next', 'dev', '--port'],
  },
} as const

/** A client in a folder of its own: written, committed, and cloned, as somebody else would get it. */
export class GeneratedClient {
  readonly folder: string
  readonly #root: string
  #server: ChildProcess | undefined

  private constructor(root: string) {
    this.#root = root
    this.folder = join(root, 'clone/client')
  }

  static async write(configuration: Configuration): Promise<GeneratedClient> {
    const root = await mkdtemp(join(tmpdir(), 'botcli-client-'))
    const project = join(root, 'project')
    for (const { path, content } of clientFiles(configuration)) {
      await mkdir(dirname(join(project, path)), { recursive: true })
      await writeFile(join(project, path), content)
    }
    const git = (...args: string[]) => run('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args])
    await git('init', '-q', project)
    await git('-C', project, 'add', '--all')
    await git('-C', project, 'commit', '-q', '-m', 'all')
    await git('clone', '-q', project, join(root, 'clone'))
    return new GeneratedClient(root)
  }

  /** Runs npm in the client's folder, and gives what it printed. */
  async npm(args: readonly string[], env: Record<string, string> = {}): Promise<string> {
    const options = { cwd: this.folder, timeout: LIMIT_MS, env: { ...environment(), ...env } }
    const { stdout, stderr } = await run('npm', args, options).catch((error: Error) => {
      const { stdout: printed } = error as Error & { stdout?: string }
      throw new Error(`npm ${args.join(' ')}: ${error.message}\n${printed ?? ''}`)
    })
    // Settings of this machine that npm does not like say nothing about the client.
    return (stdout + stderr).replace(/^npm warn Unknown .*$/gm, '')
  }

  /** Uses the packages of another client, which has at least those that this one needs. */
  async borrowPackages(other: GeneratedClient): Promise<void> {
    await symlink(join(other.folder, 'node_modules'), join(this.folder, 'node_modules'))
  }

  /** What git sees that was not committed. */
  async changes(): Promise<string> {
    return (await run('git', ['-C', this.folder, 'status', '--porcelain'])).stdout
  }

  /** Serves the client, in place of what was served before, and gives its address. */
  async serve(
    server: keyof typeof SERVERS,
    how: 'built' | 'dev',
    env: Record<string, string>,
  ): Promise<string> {
    await this.#stopServer()
    const url = `http://localhost:${await freePort()}/`
    const args = [...SERVERS[server][how], new URL(url).port]
    const options = { cwd: this.folder, env: { ...environment(), ...env }, stdio: 'ignore' } as const
    this.#server = spawn(process.execPath, args, options)
    await until(async () => (await fetch(url).catch(() => undefined))?.ok, 'the client to be served')
    return url
  }

  async close(): Promise<void> {
    await this.#stopServer()
    await rm(this.#root, { recursive: true, force: true, maxRetries: 5 })
  }

  async #stopServer(): Promise<void> {
    if (this.#server?.exitCode !== null || this.#server.signalCode !== null) return
    this.#server.kill()
    await once(this.#server, 'exit')
  }
}

/** Why the suite cannot run here, if it cannot. */
export async function whyNoClients(chromium: string | undefined): Promise<string | undefined> {
  if (chromium === undefined) return 'no chromium here; CHROMIUM_PATH names one'
  const asked = ['view', '@pipecat-ai/client-js', 'version']
  return run('npm', asked, { timeout: 30_000 }).then(
    () => undefined,
    () => 'no npm, or no package registry',
  )
}

function environment(): NodeJS.ProcessEnv {
  const { NODE_ENV: _mode, VITEST: _vitest, NODE_OPTIONS: _options, ...env } = process.env
  return {
    ...env,
    NEXT_TELEMETRY_DISABLED: '1',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_prefer_offline: 'true',
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, 'localhost')
  await once(server, 'listening')
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}
