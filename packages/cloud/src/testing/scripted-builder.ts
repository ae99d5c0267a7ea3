import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { FAILURE_CODES, type FailureCode } from '@botcli/protocol/cloud'
import type {
  BaseImage,
  Builder,
  BuilderProbe,
  BuildInput,
  BuildOutput,
  BuildResult,
} from '../builders/builder.ts'

/**
 * A small builder that is real: it runs the lines of the build file one after another in the context. `RUN` runs a shell command, `FAIL code
 * message` fails, `CRASH` is a fault of the builder; all other lines are only told.
 */
export class ScriptedBuilder implements Builder {
  readonly name: string
  /** Set for one that makes no images. */
  makesBundles?: true
  readonly removed: string[] = []
  readonly cleaned: string[] = []
  /** What it makes everything of. */
  bases: readonly BaseImage[] = []

  constructor(name = 'scripted 1.0') {
    this.name = name
  }

  async build(input: BuildInput, output: BuildOutput, signal: AbortSignal): Promise<BuildResult> {
    const path = join(input.context, input.dockerfilePath)
    if (!existsSync(path)) return failed('dockerfile_missing', `${input.dockerfilePath} is not there`, '', 0)
    const lines = (await readFile(path, 'utf8')).split('\n')
    for (const [index, line] of lines.entries()) {
      signal.throwIfAborted()
      if (line === '') continue
      output.say(`STEP ${index + 1}: ${line}`)
      const [, word = '', rest = ''] = /^(\w+) ?(.*)$/.exec(line) ?? []
      if (word === 'CRASH') throw new Error(rest)
      if (word === 'FAIL') {
        const [code = '', ...message] = rest.split(' ')
        const known = FAILURE_CODES.find((one) => one === code) ?? 'command_failed'
        return failed(known, message.join(' '), line, index + 1)
      }
      if (word === 'RUN' && (await run(rest, input, output, signal)) !== 0) {
        return failed('command_failed', `${rest} did not work`, line, index + 1)
      }
    }
    signal.throwIfAborted()
    const draft = join(input.scratch, 'bundle')
    await mkdir(draft)
    await writeFile(join(draft, 'made-of'), input.buildId)
    await rename(draft, input.output)
    return {
      ok: true,
      imageUri: `bundle:${input.output}`,
      imageSizeBytes: input.buildId.length,
      bases: [...this.bases],
    }
  }

  async cleanUp(buildId: string): Promise<void> {
    this.cleaned.push(buildId)
  }

  async isFresh(imageUri: string, bases: readonly BaseImage[]): Promise<boolean> {
    return existsSync(imageUri.replace('bundle:', '')) && JSON.stringify(bases) === JSON.stringify(this.bases)
  }

  async remove(imageUri: string): Promise<void> {
    this.removed.push(imageUri)
    await rm(imageUri.replace('bundle:', ''), { recursive: true, force: true })
  }
}

/** A way to a builder that is always there. */
export function scripted(builder: Builder): BuilderProbe {
  return { kind: 'native', probe: async () => builder }
}

async function run(
  command: string,
  input: BuildInput,
  output: BuildOutput,
  signal: AbortSignal,
): Promise<number> {
  const child = spawn('sh', ['-c', command], {
    cwd: input.context,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stdout.on('data', (bytes: Buffer) => output.write(bytes))
  child.stderr.on('data', (bytes: Buffer) => output.write(bytes))
  const kill = (): void => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  }
  signal.addEventListener('abort', kill, { once: true })
  const [code] = (await once(child, 'close')) as [number | null]
  signal.removeEventListener('abort', kill)
  signal.throwIfAborted()
  return code ?? 1
}

function failed(code: FailureCode, message: string, step: string, line: number): BuildResult {
  const failure = {
    code,
    step: step || null,
    line: line || null,
    hint: `Mend the build file, then try again.`,
  }
  return { ok: false, message, failure }
}
