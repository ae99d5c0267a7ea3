import { existsSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'
import type { CheckedDockerfile } from '../dockerfile/check.ts'
import { type Stage, type StagedStep, stageNamed } from '../dockerfile/stages.ts'
import { pairsOf } from '../dockerfile/variables.ts'
import { ImagePaths } from './image-paths.ts'
import { type InstallCommand, installCommand, misspelledInstall, withPaths } from './install-command.ts'
import { simpleCommands } from './shell-line.ts'

/** What the native builder does with a project. */
export interface NativePlan {
  readonly installs: readonly PlannedInstall[]
  /** RUN lines that are not done, in part or at all. */
  readonly notRun: readonly { readonly step: StagedStep; readonly part: string }[]
  /** Installations with a slip of the pen, and the word that was meant. */
  readonly misspelled: readonly { readonly step: StagedStep; readonly part: string; readonly meant: string }[]
  /** The folder of the project, inside of the context. */
  readonly folder: string
  /** What runs in the image. */
  readonly command: readonly string[]
  readonly commandStep: StagedStep | undefined
  readonly env: Readonly<Record<string, string>>
}

/** One installation. */
export interface PlannedInstall extends InstallCommand {
  /** Inside of the context. */
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  /** Where it is written, if it is. */
  readonly step: StagedStep | undefined
}

/** Reads out of a container build file what can be done without a container. Paths of the image become paths of the context. */
export function planOf(file: CheckedDockerfile, context: string): NativePlan {
  const installs: PlannedInstall[] = []
  const notRun: NativePlan['notRun'][number][] = []
  const misspelled: NativePlan['misspelled'][number][] = []
  const pathsOf = new Map<Stage, ImagePaths>()
  const isFolder = (source: string): boolean =>
    statSync(join(context, source), { throwIfNoEntry: false })?.isDirectory() ?? false
  for (const stage of file.needed) {
    const parent = stageNamed(file.stages.slice(0, stage.index), stage.base ?? '')
    const paths = new ImagePaths(isFolder, parent === undefined ? undefined : pathsOf.get(parent))
    pathsOf.set(stage, paths)
    for (const step of stage.steps) {
      paths.follow(step)
      if (step.keyword === 'RUN') planRun(step, paths, installs, notRun, misspelled)
    }
  }
  const last = file.needed.at(-1)
  const paths = last === undefined ? undefined : pathsOf.get(last)
  const lineage = last === undefined ? [] : lineageOf(last, file.stages)
  const command = commandOf(lineage)
  return {
    installs,
    notRun,
    misspelled,
    folder: projectFolder(context, file.path, paths),
    command: command.words.map((word) => localPath(word, paths)),
    commandStep: command.step,
    env: environmentOf(lineage),
  }
}

function planRun(
  step: StagedStep,
  paths: ImagePaths,
  installs: PlannedInstall[],
  notRun: NativePlan['notRun'][number][],
  misspelled: NativePlan['misspelled'][number][],
): void {
  const commands = step.json === undefined ? simpleCommands(known(step)) : [{ env: {}, words: step.json }]
  if (commands === undefined || step.heredocs.length > 0) {
    notRun.push({ step, part: step.text })
    return
  }
  let cwd = paths.workdir
  for (const command of commands) {
    const install = installCommand(command)
    const meant = install === undefined ? misspelledInstall(command) : undefined
    if (meant !== undefined) misspelled.push({ step, part: command.words.join(' '), meant })
    if (command.words[0] === 'cd') cwd = posix.resolve(cwd, command.words[1] ?? '')
    else if (install !== undefined) {
      // What no line has copied is not there; the installer says so.
      const folder = paths.sourceOf(cwd) ?? ''
      const place = (path: string): string => {
        const source = paths.sourceOf(posix.resolve(cwd, path))
        return source === undefined
          ? `./not-copied${posix.resolve(cwd, path)}`
          : posix.relative(folder, source) || '.'
      }
      const local = (path: string): string => (/^[./]*$|^\.\//.test(path) ? dotted(place(path)) : place(path))
      const env = Object.fromEntries(
        [...step.variables].flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
      )
      installs.push({
        ...install,
        args: withPaths(install.args, local),
        folder,
        env: { ...env, ...command.env },
        step,
      })
    } else if (command.words.length > 0 && !['set', 'true', ':', 'echo'].includes(command.words[0] ?? ''))
      notRun.push({ step, part: command.words.join(' ') })
  }
}

/** An installer takes a bare name for a package, so a folder is written with a dot. */
function dotted(path: string): string {
  return path.startsWith('.') || path.startsWith('/') ? path : `./${path}`
}

/** The line with its variables put in, as far as they are known and stand alone. */
function known(step: StagedStep): string {
  return step.rest.replace(/\$\{(\w+)\}|\$(\w+)/g, (match, braced, plain) => {
    const value = step.variables.get(braced ?? plain)
    return value !== undefined && /^[\w./:@=-]+$/.test(value) ? value : match
  })
}

/** The steps of a stage after those of the stages that it begins with. */
function lineageOf(stage: Stage, stages: readonly Stage[]): readonly StagedStep[] {
  const parent = stageNamed(stages.slice(0, stage.index), stage.base ?? '')
  return [...(parent === undefined ? [] : lineageOf(parent, stages)), ...stage.steps]
}

/** ENTRYPOINT and CMD together, as the image would run them. */
function commandOf(lineage: readonly StagedStep[]): {
  readonly words: readonly string[]
  readonly step: StagedStep | undefined
} {
  const entry = lineage.findLast(({ keyword }) => keyword === 'ENTRYPOINT')
  // An ENTRYPOINT forgets the CMD before it.
  const command = lineage
    .slice(entry === undefined ? 0 : lineage.indexOf(entry))
    .findLast(({ keyword }) => keyword === 'CMD')
  const wordsOf = (step: StagedStep | undefined): readonly string[] =>
    step === undefined
      ? []
      : (step.json ?? (simpleCommands(known(step)) ?? []).at(-1)?.words ?? ['/bin/sh', '-c', step.rest])
  const entryWords = wordsOf(entry)
  const shellEntry = entry !== undefined && entry.json === undefined
  return { words: shellEntry ? entryWords : [...entryWords, ...wordsOf(command)], step: command ?? entry }
}

/** A word of the command that names a file of the image, as a path from the project's folder. */
function localPath(word: string, paths: ImagePaths | undefined): string {
  if (paths === undefined || !word.startsWith('/') || !/\.(?:py|[cm]?[jt]s)$/.test(word)) return word
  const source = paths.sourceOf(word)
  const folder = paths.sourceOf(paths.workdir) ?? '.'
  return source === undefined ? word : posix.relative(folder, source)
}

function environmentOf(lineage: readonly StagedStep[]): Readonly<Record<string, string>> {
  const names = lineage
    .filter(({ keyword }) => keyword === 'ENV')
    .flatMap(({ rest, words }) => {
      const pairs = pairsOf(rest)
      return 'wrong' in pairs ? words.slice(0, 1) : pairs.map(([name]) => name)
    })
  const last = lineage.at(-1)?.variables
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = last?.get(name)
      return value === undefined || name === 'PATH' ? [] : [[name, value]]
    }),
  )
}

const MANIFESTS = [
  'pyproject.toml',
  'requirements.txt',
  'package.json',
  'bot.py',
  'bot.ts',
  'bot.mts',
  'bot.js',
  'bot.mjs',
]

/** The folder that the image would run in; else the first that looks like a project. */
function projectFolder(context: string, dockerfilePath: string, paths: ImagePaths | undefined): string {
  const running = paths === undefined || paths.workdir === '/' ? undefined : paths.sourceOf(paths.workdir)
  const candidates = [running, '.', posix.dirname(dockerfilePath), 'server'].filter(
    (folder) => folder !== undefined,
  )
  return (
    candidates.find((folder) => MANIFESTS.some((name) => existsSync(join(context, folder, name)))) ??
    running ??
    '.'
  )
}
