import { isAbsolute, join } from 'node:path'
import { botcliVersion, compareVersions } from '@botcli/scaffold'
import { type Finding, fault, ok, warning } from '../finding.ts'
import { findMaker, importsPipecat, planInstallation } from '../installation.ts'
import { inProject, type Project } from '../project.ts'
import { readPyproject } from '../pyproject.ts'
import { MIN_PYTHON, type PythonSearch } from '../python.ts'
import type { Subject } from '../subject.ts'

/** Whether there is a Python that is new enough. */
export async function checkPython(subject: Subject): Promise<Finding | undefined> {
  const { project } = subject
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
  if (chosen === undefined && pyproject !== undefined) {
    // uv brings a Python along when it makes an environment.
    if (hasUv) return ok(`uv will fetch one of ${needed} or newer (${why})`)
    const maker = await findMaker(subject, needed)
    if (maker !== undefined) return ok(`${maker.version} (${maker.name}), for the environment (${why})`)
  }
  const { command } = await planInstallation(subject)
  return fault(`${needed} or newer is needed, but ${why}`, command)
}

/** Whether that Python has what the bot imports. */
export async function checkEnvironment(subject: Subject): Promise<Finding | undefined> {
  const { project } = subject
  if (!project.isPython || !(await importsPipecat(project))) return undefined
  const [search, pyproject, { command, before }] = await Promise.all([
    subject.python(),
    readPyproject(project),
    planInstallation(subject),
  ])
  const { found, chosen } = search
  const place = environmentOf(project, search)
  const told = (judge: typeof fault, message: string): Finding =>
    judge(before === undefined ? message : `${message}, and ${before}`, command)
  if (found === undefined) {
    return told(
      fault,
      chosen === undefined
        ? `there is no ${place}`
        : `${place} is broken: its Python ${search.tried[0]?.problem}`,
    )
  }
  const { pipecat, botcli } = found.packages
  if (chosen === undefined && pipecat.missing) return told(fault, `there is no ${place}`)
  if (pipecat.problem !== null) return told(fault, `${place} cannot import pipecat (${pipecat.problem})`)
  const { version } = pipecat
  const oldest = pyproject?.pipecat
  if (version !== null && oldest !== undefined && compareVersions(version, oldest) < 0) {
    return told(fault, `${place} has pipecat-ai ${version}; ${oldest} or newer is needed`)
  }
  const described = `${place} has pipecat-ai ${version ?? 'of an unknown version'}`
  // The runner lends its own package to a bot, so that one can do without; other programs cannot.
  if (project.answers !== undefined && botcli.problem !== null) {
    return told(warning, `${described}, but cannot import botcli (${botcli.problem})`)
  }
  if (botcli.version !== null && botcli.version !== botcliVersion()) {
    return told(warning, `${described}, and botcli ${botcli.version}; this is ${botcliVersion()}`)
  }
  return ok(botcli.version === null ? described : `${described} and botcli ${botcli.version}`)
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
