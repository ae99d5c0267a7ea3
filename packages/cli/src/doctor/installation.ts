import { join } from 'node:path'
import { PYTHON_NAMES } from '@botcli/runner/project'
import { compareVersions } from '@botcli/scaffold'
import { readText } from './files.ts'
import type { Project } from './project.ts'
import { type PyprojectFacts, readPyproject } from './pyproject.ts'
import { MIN_PYTHON } from './python.ts'
import type { Subject } from './subject.ts'

/** How its makers say that it is installed. */
export const INSTALL_UV = 'curl -LsSf https://astral.sh/uv/install.sh | sh'
const OWN_PYTHON = '.venv/bin/python'
/** Pythons of which an environment can be made. Only the plain names are looked for when a bot is run. */
const MAKERS = [...PYTHON_NAMES, 'python3.13', 'python3.12', 'python3.11']

/** How the environment of a project is made on this machine. */
export interface Installation {
  readonly command: string
  /** What is missing for that, in words that follow others; then the command brings it. */
  readonly before?: string
}

/** A Python on the path of programs. */
export interface Maker {
  readonly name: string
  readonly version: string
}

/** Finds a Python of which an environment can be made, with the plain names first. */
export async function findMaker(subject: Subject, needed: string): Promise<Maker | undefined> {
  const makers = await Promise.all(
    MAKERS.map(async (name) => {
      const tool = await subject.tool(name)
      return 'version' in tool ? [{ name, version: tool.version }] : []
    }),
  )
  return makers.flat().find(({ version }) => compareVersions(version, needed) >= 0)
}

/** Finds out what makes the environment, with uv or without. */
export async function planInstallation(subject: Subject): Promise<Installation> {
  const { project, shell } = subject
  const [uv, pyproject, search] = await Promise.all([
    subject.tool('uv'),
    readPyproject(project),
    subject.python(),
  ])
  const inServer = (...steps: readonly string[]): Installation => ({
    command: shell.inFolder(project.server, steps.join(' && ')),
  })
  const needed = pyproject?.python ?? MIN_PYTHON
  const { chosen, found } = search
  const isNew = found !== undefined && compareVersions(found.version, needed) >= 0
  if ('version' in uv && pyproject !== undefined) {
    const renew = chosen !== undefined && found !== undefined && !isNew ? ` --python ${needed}` : ''
    return inServer(`uv sync${pyproject.evals ? ' --group evals' : ''}${renew}`)
  }
  const packages = await packagesFor(project, pyproject)
  const install = packages === undefined ? [] : [`${OWN_PYTHON} -m pip install ${packages}`]
  const isOwn = chosen === join(project.server, OWN_PYTHON)
  // One that uv has made comes without pip.
  if (isOwn && isNew) return inServer(`${OWN_PYTHON} -m ensurepip`, ...install)
  const maker = await findMaker(subject, needed)
  // Into what is left of an environment, another Python cannot be put.
  if (maker !== undefined)
    return inServer(`${maker.name} -m venv${isOwn ? ' --clear' : ''} .venv`, ...install)
  const pip = packages === undefined ? [] : [`uv pip install ${packages}`]
  if ('version' in uv) return inServer(`uv venv${isOwn ? ' --clear' : ''} --python ${needed}`, ...pip)
  return { command: INSTALL_UV, before: `making it takes uv or Python ${needed} or newer` }
}

/** What pip has to install; nothing for a bot that needs nothing. */
async function packagesFor(
  project: Project,
  pyproject: PyprojectFacts | undefined,
): Promise<string | undefined> {
  if (pyproject !== undefined) return pyproject.evals ? '. "pipecat-ai[evals,runner,websocket]"' : '.'
  return (await importsPipecat(project)) ? 'pipecat-ai' : undefined
}

/** Whether the bot is built on the library. */
export async function importsPipecat({ answers, bot }: Project): Promise<boolean> {
  if (answers !== undefined) return true
  const text = bot === undefined ? undefined : await readText(bot.path)
  return text !== undefined && /^\s*(?:from|import)\s+pipecat\b/m.test(text)
}
