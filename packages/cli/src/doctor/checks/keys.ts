import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { envVariables } from '@botcli/scaffold'
import { checkEnvironment as checkRunnerVariables } from '../../run/environment.ts'
import { exists, readText } from '../files.ts'
import { type Finding, fault, ok, warning } from '../finding.ts'
import { lastLine } from '../programs.ts'
import { inProject, type Project } from '../project.ts'
import { isInRepository, isTracked } from '../repository.ts'
import type { Subject } from '../subject.ts'

const NAME = /^[A-Za-z_]\w*$/
/** The first line end is for a file whose last line has none. */
const IGNORE_ENV = "printf '\\n.env\\n' >> .gitignore"

/** What the bot cannot do without. */
interface Wanted {
  readonly names: readonly string[]
  /** Whether the project says so, or only its example. */
  readonly certain: boolean
}

/** Whether everything that has to be set is set. Values are looked at, but never told. */
export async function checkKeys({ project, env, shell }: Subject): Promise<Finding | undefined> {
  if (project.bot === undefined) return undefined
  const { server } = project
  const file = join(server, '.env')
  const text = await readText(file)
  const given = readVariables(text)
  const { names, certain } = await wantedNames(project)
  // As the generated settings do it: blank counts as not set, in both places.
  const missing = names.filter((name) => isBlank(env[name]) && isBlank(given[name]))
  const shown = inProject(project, file)
  if (missing.length > 0) {
    const judge = certain ? fault : warning
    const example = join(server, '.env.example')
    if (text === undefined && (await exists(example))) {
      const copy = `cp ${shell.path(example)} ${shell.path(file)}`
      return judge(`${shown} is not there, and ${areNotSet(missing)}`, copy)
    }
    return judge(areNotSet(missing), `In ${shell.path(file)}, set ${describe(missing, project)}`)
  }
  const refused = refusedByRunner({ ...given, ...env })
  if (refused.length > 0) {
    return fault(
      `${list(refused)} cannot have the value that is set`,
      '"botcli run" says what is wrong with it',
    )
  }
  if (names.length > 0) return ok(`${list(names)} ${names.length === 1 ? 'is' : 'are'} set`)
  return certain ? ok('none has to be set') : undefined
}

/** Whether the keys are kept out of the repository. */
export async function checkSecrecy(subject: Subject): Promise<Finding | undefined> {
  const { project, shell } = subject
  if (project.bot === undefined || !(await isInRepository(project.folder))) return undefined
  const path = inProject(project, join(project.server, '.env'))
  const ignored = await subject.run('git', ['check-ignore', '-q', '--', path])
  if (ignored.kind === 'absent') return undefined
  if (ignored.kind === 'ended' && ignored.code === 0) return ok(`git ignores ${path}`)
  if (await isTracked(subject, path)) {
    const fix = shell.inFolder(project.folder, `git rm --cached ${path}`)
    return fault(`${path} is in the repository: whoever has that has your keys, so renew them`, fix)
  }
  if (ignored.kind === 'ended' && ignored.code === 1) {
    const fix = shell.inFolder(project.folder, IGNORE_ENV)
    return warning(`git does not ignore ${path}, so that it could be committed`, fix)
  }
  const why = ignored.kind === 'ended' ? lastLine(ignored.stderr) : 'no answer'
  return warning(`git could not tell whether it ignores ${path} (${why})`)
}

/** What a project requires: by its own list, or by what it was made from, or else by its example. */
async function wantedNames({ server, answers }: Project): Promise<Wanted> {
  const settings = await readText(join(server, 'settings.py'))
  const [, own] = /^REQUIRED(?:: list\[str\])? = \[([^\]]*)\]$/m.exec(settings ?? '') ?? []
  if (own !== undefined) {
    return { names: [...own.matchAll(/["'](\w+)["']/g)].map(([, name = '']) => name), certain: true }
  }
  if (answers !== undefined) {
    const required = envVariables(answers.configuration).filter((variable) => variable.required)
    return { names: required.map(({ name }) => name), certain: true }
  }
  const example = readVariables(await readText(join(server, '.env.example')))
  return { names: Object.keys(example).filter((name) => NAME.test(name)), certain: false }
}

/** Variables for which `botcli run` would not start. Its messages may repeat a value, so only names are taken. */
function refusedByRunner(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const set = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
  )
  const { problems } = checkRunnerVariables(Object.fromEntries(set))
  return problems.map((problem) => problem.split(' ', 1)[0] ?? '').filter((name) => NAME.test(name))
}

/** Variables of an env file. */
export function readVariables(text: string | undefined): Readonly<Record<string, string | undefined>> {
  return text === undefined ? {} : parseEnv(text.replace(/^\uFEFF/, ''))
}

/** Whether a variable counts as not set. */
export function isBlank(value: string | undefined): boolean {
  return value === undefined || value.trim() === ''
}

function describe(names: readonly string[], { answers }: Project): string {
  const known = answers === undefined ? [] : envVariables(answers.configuration)
  return list(
    names.map((name) => {
      const hint = known.find((variable) => variable.name === name)?.hint
      return hint === undefined ? name : `${name} (${hint})`
    }),
  )
}

function areNotSet(names: readonly string[]): string {
  return `${list(names)} ${names.length === 1 ? 'is' : 'are'} not set`
}

function list(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}
