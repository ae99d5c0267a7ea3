import { stat } from 'node:fs/promises'
import { join, posix, relative, resolve } from 'node:path'
import { DEFAULT_DOCKERFILE } from '@botcli/protocol/cloud'
import { DEPLOY_FILE, type DeployFile, readDeployFile } from '../deploy-file/deploy-file.ts'
import { UsageError } from '../usage-error.ts'

/** The folder of a project that is built, where the project itself is named. */
const SERVER = 'server'

/** What was asked for on the command line. */
export interface BuildWish {
  readonly directory: string
  readonly dockerfile: string | undefined
  readonly region: string | undefined
  readonly cwd: string
}

/** What is built. */
export interface BuildPlan {
  readonly folder: string
  /** Relative to the folder, with `/` between its parts. */
  readonly dockerfile: string
  /** That of the organization if nothing is said. */
  readonly region: string | undefined
  /** Patterns that leave out more of the folder than its ignore file does. */
  readonly exclude: readonly string[]
  /** The deployment file that was gone by, if there is one. */
  readonly deployFile: string | undefined
}

/** A folder with its deployment file, if it has one. */
export interface Project {
  readonly home: string
  readonly file: DeployFile | undefined
}

/** Finds the project that is meant by a folder. */
export async function findProject(directory: string, cwd: string): Promise<Project> {
  const given = resolve(cwd, directory)
  await checkFolder(given, directory)
  const home = await projectFolder(given)
  return { home, file: await readDeployFile(home) }
}

/** Finds out what is to be built: what the command line says, then the deployment file, then what is usual. */
export async function planBuild({ directory, cwd, ...wish }: BuildWish): Promise<BuildPlan> {
  return planOf(await findProject(directory, cwd), wish)
}

/** The same for a project that was found before. */
export async function planOf(
  { home, file }: Project,
  { dockerfile, region }: Pick<BuildWish, 'dockerfile' | 'region'>,
): Promise<BuildPlan> {
  const folder = resolve(home, file?.contextDir ?? '.')
  if (folder !== home) await checkFolder(folder, `${file?.contextDir} (context_dir in ${DEPLOY_FILE})`)
  return {
    folder,
    dockerfile: inside(
      folder,
      dockerfile ?? file?.dockerfile ?? DEFAULT_DOCKERFILE,
      dockerfile === undefined,
    ),
    region: region ?? file?.region,
    exclude: file?.exclude ?? [],
    deployFile: file && join(home, DEPLOY_FILE),
  }
}

/** The folder of a project that was made by `botcli init` is not what is built, but the one of its server. */
async function projectFolder(folder: string): Promise<string> {
  const has = async (path: string) =>
    (await stat(join(folder, path)).catch(() => undefined))?.isFile() === true
  const own = (await has(DEPLOY_FILE)) || (await has(DEFAULT_DOCKERFILE))
  return !own && (await has(`${SERVER}/${DEPLOY_FILE}`)) ? join(folder, SERVER) : folder
}

async function checkFolder(folder: string, shown: string): Promise<void> {
  const found = await stat(folder).catch(() => undefined)
  if (found === undefined) throw new UsageError([`There is no folder ${shown}.`])
  if (!found.isDirectory()) throw new UsageError([`${shown} is a file; give the folder that is to be built.`])
}

function inside(folder: string, path: string, isFromFile: boolean): string {
  const way = posix.normalize(relative(folder, resolve(folder, path)).replaceAll('\\', '/'))
  if (way !== '.' && way !== '..' && !way.startsWith('../')) return way
  const what = isFromFile ? `dockerfile in ${DEPLOY_FILE}` : '--dockerfile'
  throw new UsageError([
    `${what} must be a file inside of ${folder}, and is told from there on; ${path} is not.`,
  ])
}
