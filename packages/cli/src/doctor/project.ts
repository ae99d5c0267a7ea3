import { stat } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { type BotFile, findBot, isPython } from '@botcli/runner/project'
import { AGENTS_FILE, ANSWERS_FILE, type Answers, isAnswers, readAnswers, readStamp } from '@botcli/scaffold'
import { UsageError } from '../usage-error.ts'
import { exists, readText } from './files.ts'

/** Folders of a project in which people stand when they ask about it. */
const PARTS = ['server', 'client']

/** What is in a folder that is checked. */
export interface Project {
  readonly folder: string
  /** What it was made from, if that is known. */
  readonly answers: Answers | undefined
  /** Whether it has a file with answers, be it one that this version does not understand. */
  readonly hasAnswers: boolean
  /** The version that wrote the file with answers, also of one that is not understood. */
  readonly madeBy: string | undefined
  /** Whether it has the guides for a coding agent alone, which is to make a project. */
  readonly awaitsAgent: boolean
  readonly bot: BotFile | undefined
  /** Why there is no bot. */
  readonly botProblem: string | undefined
  /** Where the bot is, or would be. */
  readonly server: string
  readonly isPython: boolean
}

/** Looks at a folder. One that is not there is an error of the user's. */
export async function openProject(directory: string, cwd: string): Promise<Project> {
  const folder = await projectFolder(resolve(cwd, directory), directory)
  const file = join(folder, ANSWERS_FILE)
  const text = await readText(file).catch((error: Error) => {
    throw new UsageError([`${file} cannot be read (${error.message}).`])
  })
  const answers = text === undefined ? undefined : readAnswers(text)
  const found = await findBot(undefined, folder).catch((error: Error) => error)
  const bot = found instanceof Error ? undefined : found
  return {
    folder,
    answers,
    hasAnswers: text !== undefined,
    madeBy: text === undefined ? undefined : versionIn(text),
    awaitsAgent: text === undefined && isNothing(found) && (await hasGuide(folder)),
    bot,
    botProblem: found instanceof Error ? found.message : undefined,
    server: bot?.folder ?? (text === undefined ? folder : join(folder, 'server')),
    isPython: bot === undefined ? text !== undefined : isPython(bot.path),
  }
}

/** A path as messages name it. */
export function inProject({ folder }: Project, path: string): string {
  return relative(folder, path) || '.'
}

function versionIn(text: string): string | undefined {
  return isAnswers(text) ? (JSON.parse(text) as Answers).version : undefined
}

/** Whether no bot was found, nor any code that may be meant as one. */
function isNothing(found: object): boolean {
  return (
    'code' in found && found.code === 'bot_not_found' && !('detail' in found && found.detail !== undefined)
  )
}

async function hasGuide(folder: string): Promise<boolean> {
  const text = await readText(join(folder, AGENTS_FILE)).catch(() => undefined)
  return text !== undefined && readStamp(text) !== undefined
}

async function projectFolder(folder: string, given: string): Promise<string> {
  const found = await stat(folder).catch(() => undefined)
  if (found === undefined) throw new UsageError([`There is no folder ${given}.`])
  if (!found.isDirectory()) throw new UsageError([`${given} is a file; give the folder of a project.`])
  const above = dirname(folder)
  const isPart = PARTS.includes(basename(folder)) && !(await exists(join(folder, ANSWERS_FILE)))
  return isPart && (await exists(join(above, ANSWERS_FILE))) ? above : folder
}
