import { existsSync } from 'node:fs'
import { cp, mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'
import type { Builder, BuildInput, BuildOutput, BuildResult } from '../builder.ts'
import { type CheckedDockerfile, checkAloud } from '../dockerfile/check.ts'
import { aborted, type FailedResult, failed } from '../failures/classify.ts'
import { folderSize } from '../limits/folder-size.ts'
import type { Limiter } from '../limits/limiter.ts'
import { BUNDLE_FILE, makeRelocatable, writeBundle } from './bundle.ts'
import { type Entry, entryOf } from './entry.ts'
import { checkEntry } from './entry-check.ts'
import { installNode, usualNodeInstall } from './node-install.ts'
import { installsOnlyOwn } from './own-packages.ts'
import { type NativePlan, type PlannedInstall, planOf } from './plan.ts'
import { ENVIRONMENT, installPython, makeEnvironment, usualPythonInstall } from './python-install.ts'
import type { NativeTools } from './tools.ts'
import { Workshop } from './workshop.ts'

/** What the native builder works with. */
export interface NativeBuilderOptions {
  readonly tools: NativeTools
  readonly limiter: Limiter
  /** Where the bundles are: `output` of a build is this folder and the build's id. */
  readonly bundles: string
  /** Folders that a build has no business in, hidden where there is a sandbox. */
  readonly hide: readonly string[]
}

const URI = 'bundle:'
const NOT_MADE = 'If a RUN line makes it, a builder with a container tool is needed.'
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * Builds without any container tool: checks the container build file, copies the context, installs what its RUN lines install, and looks
 * whether the bot can be loaded. What else an image would have is not there, and the log says so.
 */
export class NativeBuilder implements Builder {
  readonly name: string
  readonly makesBundles = true
  readonly #options: NativeBuilderOptions

  constructor(options: NativeBuilderOptions) {
    const { python, uv, npm } = options.tools
    const tools = [
      ...('version' in python ? [`Python ${python.version}`] : []),
      ...(uv === undefined ? [] : [`uv ${uv.version}`]),
      `Node ${process.versions.node}`,
      ...(npm === undefined ? [] : [`npm ${npm.version}`]),
    ]
    this.name = `native (${tools.join(', ')}; ${options.limiter.description})`
    this.#options = options
  }

  async build(input: BuildInput, output: BuildOutput, signal: AbortSignal): Promise<BuildResult> {
    const checked = await checkAloud(input, output)
    if ('result' in checked) return checked.result
    if (signal.aborted) return aborted(signal)
    const { limiter, tools, hide } = this.#options
    const disk = async (): Promise<number> => await folderSize(input.scratch)
    const run = await limiter.open({ buildId: input.buildId, limits: input.limits, signal, disk })
    try {
      const shop = await Workshop.open({ input, tools, output, run, signal, hide })
      const result = await this.#make(shop, checked)
      if (!result.ok) await rm(shop.bundle, { recursive: true, force: true })
      return result
    } finally {
      await run.close()
    }
  }

  async cleanUp(buildId: string): Promise<void> {
    await this.#options.limiter.cleanUp(buildId)
  }

  /** Base images are not used, and the Python or Node that stands for them is part of the name. */
  async isFresh(imageUri: string): Promise<boolean> {
    const folder = this.#folderOf(imageUri)
    return folder !== undefined && existsSync(join(folder, BUNDLE_FILE))
  }

  async remove(imageUri: string): Promise<void> {
    const folder = this.#folderOf(imageUri)
    if (folder !== undefined) await rm(folder, { recursive: true, force: true })
  }

  #folderOf(imageUri: string): string | undefined {
    const id = imageUri.slice(URI.length)
    return imageUri.startsWith(URI) && UUID.test(id) ? join(this.#options.bundles, id) : undefined
  }

  async #make(shop: Workshop, file: CheckedDockerfile): Promise<BuildResult> {
    const { input } = shop
    const plan = planOf(file, input.context)
    shop.tail.say('No image is made: the context is bundled and its dependencies are installed.')
    for (const { from, base } of file.needed)
      shop.tail.say(`line ${from.line}: not used: the base image ${base ?? from.rest}`)
    for (const { step, part } of plan.notRun) {
      const what = installsOnlyOwn(part) ? 'not needed, for the runner brings it' : 'not run'
      shop.tail.say(`line ${step.line}: ${what}: ${part}`)
    }
    const [slip] = plan.misspelled
    if (slip !== undefined)
      return failed(
        'install_failed',
        `${slip.part}: there is no such command`,
        slip.step,
        `Did you mean ${slip.meant}?`,
      )
    const entry = entryOf(plan, input.context)
    await cp(input.context, join(shop.bundle, 'app'), { recursive: true, verbatimSymlinks: true })
    const installs = installsOf(plan, input.context, entry)
    const wrong =
      (await this.#install(shop, installs, entry)) ?? (await this.#check(shop, plan, entry, installs))
    if (wrong !== undefined) return wrong
    if (entry === undefined) return noEntry(plan)
    return await finish(shop, plan, entry)
  }

  async #install(
    shop: Workshop,
    installs: readonly PlannedInstall[],
    entry: Entry | undefined,
  ): Promise<FailedResult | undefined> {
    const ofPython = installs.filter(({ tool }) => tool !== 'npm')
    if (ofPython.length > 0 || entry?.language === 'python') {
      const wrong = await makeEnvironment(shop, ofPython)
      if (wrong !== undefined) return wrong
    }
    for (const install of installs) {
      const wrong =
        install.tool === 'npm' ? await installNode(shop, install) : await installPython(shop, install)
      if (wrong !== undefined) return wrong
    }
    return undefined
  }

  async #check(
    shop: Workshop,
    plan: NativePlan,
    entry: Entry | undefined,
    installs: readonly PlannedInstall[],
  ): Promise<FailedResult | undefined> {
    if (entry === undefined) return undefined
    if (entry.path.startsWith('..') || !existsSync(join(shop.bundle, 'app', plan.folder, entry.path))) {
      const hint = plan.notRun.length === 0 ? 'Check its name, and that it was sent.' : NOT_MADE
      return failed('command_failed', `${entry.path}, which CMD names, is not there`, plan.commandStep, hint)
    }
    const step = installs.findLast(({ tool }) => (tool === 'npm') === (entry.language === 'node'))?.step
    const [program = '', command] = plan.command
    const runsByUs = posix.basename(program) === 'botcli' && command === 'run'
    return await checkEntry(shop, plan.folder, entry, step, runsByUs)
  }
}

/** The written installations; the usual one where none is written for the language of the bot. */
function installsOf(plan: NativePlan, context: string, entry: Entry | undefined): readonly PlannedInstall[] {
  const isOf = ({ tool }: PlannedInstall): boolean => (tool === 'npm') === (entry?.language === 'node')
  if (entry === undefined || plan.installs.some(isOf)) return plan.installs
  const usual =
    entry.language === 'node'
      ? usualNodeInstall(context, plan.folder)
      : usualPythonInstall(context, plan.folder)
  return usual === undefined ? plan.installs : [...plan.installs, usual]
}

function noEntry(plan: NativePlan): FailedResult {
  const hint = `Name it in CMD, such as CMD ["botcli", "run", "bot.py"]. ${NOT_MADE}`
  return failed(
    'command_failed',
    'the bot was not found: CMD names no file, and there is no bot.py, bot.ts or bot.js',
    plan.commandStep,
    hint,
  )
}

async function finish(shop: Workshop, plan: NativePlan, entry: Entry): Promise<BuildResult> {
  const { input, bundle, tools } = shop
  const isPython = entry.language === 'python'
  if (isPython) await makeRelocatable(join(bundle, ENVIRONMENT))
  const { python } = tools
  await writeBundle(bundle, {
    version: 1,
    buildId: input.buildId,
    language: entry.language,
    entry: posix.join('app', plan.folder, entry.path),
    workdir: posix.join('app', plan.folder),
    python:
      isPython && 'path' in python
        ? { path: `${ENVIRONMENT}/bin/python`, version: python.version, base: python.path }
        : null,
    node: isPython ? null : process.versions.node,
    command: [...plan.command],
    env: plan.env,
  })
  const imageSizeBytes = await folderSize(bundle)
  await mkdir(dirname(input.output), { recursive: true })
  await rm(input.output, { recursive: true, force: true })
  await move(bundle, input.output)
  const imageUri = `${URI}${input.buildId}`
  const missed = plan.notRun.filter(({ part }) => !installsOnlyOwn(part))
  const lines = new Set(missed.map(({ step }) => step.line)).size
  if (lines > 0)
    shop.tail.say(
      `${lines} ${lines === 1 ? 'line' : 'lines'} of ${input.dockerfilePath} ${lines === 1 ? 'was not run; it is' : 'were not run; they are'} named above`,
    )
  shop.tail.say(`made ${imageUri}, ${sizeOf(imageSizeBytes)}`)
  return { ok: true, imageUri, imageSizeBytes, bases: [] }
}

function sizeOf(bytes: number): string {
  const kilobytes = Math.ceil(bytes / 1024)
  return kilobytes < 1024 ? `${kilobytes} KB` : `${Math.round(kilobytes / 1024)} MB`
}

/** In one step, also from one disk to another. */
async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
    const beside = `${to}.part`
    await rm(beside, { recursive: true, force: true })
    await cp(from, beside, { recursive: true, verbatimSymlinks: true })
    await rename(beside, to)
  }
}
