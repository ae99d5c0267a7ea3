import { existsSync } from 'node:fs'
import { join, posix } from 'node:path'
import type { NativePlan } from './plan.ts'

/** The bot of a project. */
export interface Entry {
  readonly language: 'python' | 'node'
  /** From the project's folder. */
  readonly path: string
  /** Whether the container build file names it, and it is not only found by its usual name. */
  readonly named: boolean
}

const USUAL = ['bot.py', 'bot.ts', 'bot.mts', 'bot.js', 'bot.mjs']
const CODE = /\.(?:py|[cm]?[jt]s)$/

/** Finds the bot: what the command names, else a file with one of the usual names. */
export function entryOf(plan: NativePlan, context: string): Entry | undefined {
  const folder = join(context, plan.folder)
  const named = plan.command.find((word) => CODE.test(word) && !word.startsWith('-') && !word.startsWith('/'))
  if (named !== undefined) return { ...entry(posix.normalize(named)), named: true }
  const module = moduleOf(plan.command)
  const file = module === undefined ? undefined : `${module.replaceAll('.', '/')}`
  const candidates = file === undefined ? USUAL : [`${file}.py`, `${file}/__main__.py`, ...USUAL]
  const path = candidates.find((candidate) => existsSync(join(folder, candidate)))
  return path === undefined ? undefined : { ...entry(path), named: false }
}

/** `package.module` of `python -m package.module` and of `uvicorn package.module:app`. */
function moduleOf(command: readonly string[]): string | undefined {
  const at = command.indexOf('-m')
  if (at !== -1 && /python[\d.]*$/.test(command[at - 1] ?? '')) return command[at + 1]
  return command
    .map((word) => /^([A-Za-z_][\w.]*):[A-Za-z_]\w*$/.exec(word)?.[1])
    .find((name) => name !== undefined)
}

function entry(path: string): Pick<Entry, 'language' | 'path'> {
  return { language: path.endsWith('.py') ? 'python' : 'node', path }
}
