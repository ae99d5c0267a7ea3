import type { spawn as nodeSpawn } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { type Answer, askProgram, complaint } from '../../builders/ask-program.ts'
import { runLongProgram } from '../../builders/long-program.ts'
import type { Credentials } from '../engine.ts'

const ASK_MS = 60_000
const PULL_MS = 15 * 60_000
const containerState = z.object({
  /** `created` is one that was never started. */
  Status: z.string(),
  Running: z.boolean(),
  Pid: z.int(),
  ExitCode: z.int(),
  OOMKilled: z.boolean().optional(),
})

/** A container as its engine sees it. */
export type ContainerState = z.infer<typeof containerState>

/** How an image is fetched. */
export interface PullOptions {
  readonly credentials: Credentials | undefined
  /** A folder in which something can be put meanwhile. */
  readonly scratch: string
  /** Variables by which its processes are found after this one was killed. */
  readonly env: Readonly<Record<string, string>>
  /** Aborted when the image is not wanted any more. */
  readonly signal: AbortSignal
  readonly spawn?: typeof nodeSpawn
}

/** A container engine, by its command line. */
export class ContainerTool {
  readonly name: string
  /** How every command begins. */
  readonly command: readonly string[]

  constructor(name: string, command: readonly string[]) {
    this.name = name
    this.command = command
  }

  /** Whether an image is in its storage. */
  async hasImage(image: string): Promise<boolean> {
    return (await this.#ask(['image', 'inspect', '--format', '{{.Id}}', image])).status === 0
  }

  /**
   * Fetches an image with somebody's credentials, which are gone afterwards, or with none; never with those of this machine. Rejects with
   * what the engine says. If it is not wanted any more, it rejects as soon as the engine's program is gone; a daemon gives up what nobody listens for.
   */
  async pull(image: string, { credentials, scratch, env, signal, spawn }: PullOptions): Promise<void> {
    const folder = join(scratch, 'pull')
    await mkdir(folder, { mode: 0o700 })
    try {
      const auths = credentials === undefined ? {} : { [credentials.host]: { auth: credentials.auth } }
      const file = join(folder, 'config.json')
      await writeFile(file, JSON.stringify({ auths }), { mode: 0o600 })
      const [program = '', ...options] = this.command
      const argv =
        program === 'docker'
          ? [program, '--config', folder, ...options, 'pull', '--quiet', image]
          : [...this.command, 'pull', '--quiet', '--authfile', file, ofRegistry(image)]
      const answer = await runLongProgram(argv, {
        timeoutMs: PULL_MS,
        // What podman has fetched of an image lies here until it has all: when it is killed, it leaves that behind.
        env: { ...env, DOCKER_AUTH_CONFIG: '', TMPDIR: folder },
        signal,
        ...(spawn && { spawn }),
      })
      if (answer.status !== 0)
        throw new Error(`The image ${image} could not be fetched: ${complaint(answer)}`)
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 3 })
    }
  }

  /** A container; nothing if there is none of this name. Rejects if the engine cannot say. */
  async state(container: string): Promise<ContainerState | undefined> {
    const answer = await this.#ask([...['container', 'inspect', '--format', '{{json .State}}'], container])
    if (answer.status === 0) return containerState.parse(JSON.parse(answer.stdout))
    if (/no such (?:container|object)/i.test(answer.stderr)) return undefined
    throw new Error(`${this.name} does not say what has become of ${container}: ${complaint(answer)}`)
  }

  /** Asks the container to end, and ends it after so long. */
  async stop(container: string, graceMs: number): Promise<void> {
    const seconds = Math.ceil(graceMs / 1000)
    await this.#ask(['stop', '--time', String(seconds), container], seconds * 1000 + ASK_MS)
  }

  /** Ends and removes a container, if it is there. */
  async remove(container: string): Promise<void> {
    // Removing alone would give it some seconds more.
    await this.#ask(['kill', container])
    const answer = await this.#ask(['rm', '--force', '--volumes', container])
    if (answer.status !== 0 && !/no such container|no container with name/i.test(answer.stderr))
      throw new Error(`${this.name} did not remove ${container}: ${complaint(answer)}`)
  }

  /** Whether it can give a container a first process that buries orphans. It tells so only by running something. */
  async hasInit(image: string): Promise<boolean> {
    const nothing = ['--entrypoint', '/botcli-runs-nothing']
    const { stderr } = await this.#ask([
      ...['run', '--rm', '--init', '--pull', 'never', '--network', 'none', ...nothing, image],
    ])
    return !/(?:docker|container)-init.*not found/.test(stderr)
  }

  async #ask(args: readonly string[], timeoutMs = ASK_MS): Promise<Answer> {
    return await askProgram([...this.command, ...args], { timeoutMs })
  }
}

/** The name for podman, to which it could mean something else. A digest says more than a tag, and both at once are refused. */
function ofRegistry(image: string): string {
  return `docker://${image.replace(/:[^/@]+@/, '@')}`
}
