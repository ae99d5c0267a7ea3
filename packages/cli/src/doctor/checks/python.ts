import { isAbsolute, join } from 'node:path'
import { botcliVersion, compareVersions } from '@botcli/scaffold'
import { readText } from '../files.ts'
import { type Finding, fault, ok, warning } from '../finding.ts'
import { inProject, type Project } from '../project.ts'
import { readPyproject } from '../pyproject.ts'
import { MIN_PYTHON, type PythonSearch } from '../python.ts'
import type { Subject } from '../subject.ts'
import { INSTALL_UV } from './tools.ts'

/** Whether there is a Python that is new enough. */
export async function checkPython(subject: Subject): Promise<Finding | undefined> {
  const { project, shell } = subject
  if (!project.isPython) return undefined
  const [search, pyproject, uv] = await Promise.all([
    subject.python(),
    readPyproject(project),
    subject.tool('uv'),
  ])
  const needed = pyproject?.python ?? MIN_PYTHON
  const { found, chosen } = search
  const hasUv = 'version' in uv
  if (found !== undefined && compareVersions(found.version, needed) >= 0) {
    return ok(`${found.version} (${nameOf(project, found.file)})`)
  }
  const why =
    found === undefined
      ? search.tried.map(({ file, problem }) => `${nameOf(project, file)} ${problem}`).join(', ')
      : `${nameOf(project, found.file)} is version ${found.version}`
  // uv brings a Python along when it makes an environment.
  if (chosen === undefined && hasUv && pyproject !== undefined) {
    return ok(`uv will fetch one of ${needed} or newer (${why})`)
  }
  const renew = shell.inFolder(project.server, `uv sync --python ${needed}`)
  const fix = !hasUv ? INSTALL_UV : pyproject === undefined ? `uv python install ${needed}` : renew
  return fault(`${needed} or newer is needed, but ${why}`, fix)
}

/** Whether that Python has what the bot imports. */
export async function checkEnvironment(subject: Subject): Promise<Finding | undefined> {
  const { project } = subject
  if (!project.isPython || !(await importsPipecat(project))) return undefined
  const [search, pyproject, fix] = await Promise.all([
    subject.python(),
    readPyproject(project),
    installCommand(subject),
  ])
  const { found, chosen } = search
  const place = environmentOf(project, search)
  if (found === undefined) {
    return fault(
      chosen === undefined
        ? `there is no ${place}`
        : `${place} is broken: its Python ${search.tried[0]?.problem}`,
      fix,
    )
  }
  const { pipecat, botcli } = found.packages
  if (chosen === undefined && pipecat.missing) return fault(`there is no ${place}`, fix)
  if (pipecat.problem !== null) return fault(`${place} cannot import pipecat (${pipecat.problem})`, fix)
  const { version } = pipecat
  const oldest = pyproject?.pipecat
  if (version !== null && oldest !== undefined && compareVersions(version, oldest) < 0) {
    return fault(`${place} has pipecat-ai ${version}; ${oldest} or newer is needed`, fix)
  }
  const described = `${place} has pipecat-ai ${version ?? 'of an unknown version'}`
  // The runner lends its own package to a bot, so that one can do without; other programs cannot.
  if (project.answers !== undefined && botcli.problem !== null) {
    return warning(`${described}, but cannot import botcli (${botcli.problem})`, fix)
  }
  if (botcli.version !== null && botcli.version !== botcliVersion()) {
    return warning(`${described}, and botcli ${botcli.version}; this is ${botcliVersion()}`, fix)
  }
  return ok(botcli.version === null ? described : `${described} and botcli ${botcli.version}`)
}

/** What makes the environment, with uv or without. */
async function installCommand(subject: Subject): Promise<string> {
  const { project, shell } = subject
  const uv = await subject.tool('uv')
  const pyproject = await readPyproject(project)
  const evals = project.answers?.configuration.evals === true
  if (pyproject === undefined) {
    return shell.inFolder(project.server, 'python3 -m venv .venv && .venv/bin/pip install pipecat-ai')
  }
  if ('version' in uv) return shell.inFolder(project.server, evals ? 'uv sync --group evals' : 'uv sync')
  const tools = evals ? ' "pipecat-ai[evals,runner,websocket]"' : ''
  return shell.inFolder(project.server, `python3 -m venv .venv && .venv/bin/pip install .${tools}`)
}

async function importsPipecat({ answers, bot }: Project): Promise<boolean> {
  if (answers !== undefined) return true
  const text = bot === undefined ? undefined : await readText(bot.path)
  return text !== undefined && /^\s*(?:from|import)\s+pipecat\b/m.test(text)
}

/** What is looked at: an environment, or a Python without one if that has what is needed. */
function environmentOf(project: Project, { chosen, found }: PythonSearch): string {
  if (chosen !== undefined) return nameOf(project, chosen).replace(/\/bin\/python$/, '')
  return found === undefined || found.packages.pipecat.missing
    ? inProject(project, join(project.server, '.venv'))
    : found.file
}

/** A Python as messages name it: those of the project by their place in it. */
function nameOf(project: Project, file: string): string {
  return isAbsolute(file) && file.startsWith(`${project.folder}/`) ? inProject(project, file) : file
}
