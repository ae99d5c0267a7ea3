import { stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { findPythonWheel } from '@botcli/runner/project'
import { botcliVersion, quoteForShell } from '@botcli/scaffold'
import { exists } from '../files.ts'
import { type Finding, fault, ok, warning } from '../finding.ts'
import { planInstallation } from '../installation.ts'
import { inProject } from '../project.ts'
import { readPyproject } from '../pyproject.ts'
import { isIgnored } from '../repository.ts'
import { restoreCommand } from '../restore.ts'
import type { Subject } from '../subject.ts'

/** Whether the Python package that the project carries along is there, and of this version. */
export async function checkWheel(subject: Subject): Promise<Finding | undefined> {
  const { project } = subject
  const wheel = (await readPyproject(project))?.wheel
  if (wheel === undefined) return undefined
  const path = join(project.server, 'wheels', wheel.name)
  const shown = inProject(project, path)
  const found = await stat(path).catch(() => undefined)
  const isThere = found?.isFile() === true && found.size > 0
  if (isThere && (await isLeftOut(subject, shown))) {
    const add = subject.shell.inFolder(project.folder, `git add --force ${quoteForShell(shown)}`)
    return fault(`git ignores ${shown}, so that nothing can be installed from a clone`, add)
  }
  if (wheel.version !== botcliVersion()) {
    const message = `${shown} is of botcli ${wheel.version}; this is ${botcliVersion()}`
    const fix = await renewCommand(subject, wheel.version)
    return isThere
      ? warning(message, fix)
      : fault(`${shown} is not there, and ${message.slice(shown.length + 1)}`, fix)
  }
  if (isThere) return ok(shown)
  const own = ownWheel()
  const folder = subject.shell.path(join(project.server, 'wheels'))
  const fix =
    own !== undefined && basename(own) === wheel.name
      ? `mkdir -p ${folder} && cp ${quoteForShell(own)} ${folder}/`
      : await restoreCommand(subject, [shown])
  return fault(`${shown} is not there, so that nothing can be installed`, fix)
}

/** Whether git ignores the wheel, but not the file that asks for it: then the project is not left out as a whole. */
async function isLeftOut(subject: Subject, wheel: string): Promise<boolean> {
  const { project } = subject
  const pyproject = inProject(project, join(project.server, 'pyproject.toml'))
  const [left, leftAsWell] = await Promise.all([wheel, pyproject].map((path) => isIgnored(subject, path)))
  return left === true && leftAsWell === false
}

/** Puts the wheel of this version into the project, and its version where the old one stands. */
async function renewCommand(subject: Subject, old: string): Promise<string | undefined> {
  const { project, shell } = subject
  const own = ownWheel()
  if (own === undefined) return undefined
  const folder = shell.path(join(project.server, 'wheels'))
  const container = join(project.server, 'Dockerfile')
  const files = [join(project.server, 'pyproject.toml'), ...((await exists(container)) ? [container] : [])]
  const pattern = old.replaceAll(/[.+]/g, '[$&]')
  const edits = `-e 's/botcli-${pattern}-py3/botcli-${botcliVersion()}-py3/' -e 's/botcli@${pattern}/botcli@${botcliVersion()}/'`
  const paths = files.map((file) => shell.path(file))
  // What is missing on this machine is told by the check of the environment.
  const { command, before } = await planInstallation(subject)
  return [
    `mkdir -p ${folder}`,
    `cp ${quoteForShell(own)} ${folder}/`,
    `sed -i.old ${edits} ${paths.join(' ')}`,
    `rm ${paths.map((file) => `${file}.old`).join(' ')}`,
    ...(before === undefined ? [command] : []),
  ].join(' && ')
}

/** The wheel that this botcli has, if it was built. */
function ownWheel(): string | undefined {
  try {
    return findPythonWheel()
  } catch {
    return undefined
  }
}
