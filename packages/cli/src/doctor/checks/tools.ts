import { join } from 'node:path'
import { compareVersions } from '@botcli/scaffold'
import { exists } from '../files.ts'
import { type Finding, fault, ok, warning } from '../finding.ts'
import { INSTALL_UV } from '../installation.ts'
import { readPyproject } from '../pyproject.ts'
import { isInRepository } from '../repository.ts'
import type { Subject, Tool } from '../subject.ts'

const MIN_NODE = '20.19'
const GET_NODE = 'Install Node, which brings npm along: https://nodejs.org/en/download'

/** The Node that this very command runs in. */
export function checkNode(version: string): Finding {
  return compareVersions(version, MIN_NODE) >= 0
    ? ok(version)
    : fault(`${version} is too old; ${MIN_NODE} or newer is needed`, GET_NODE)
}

/** uv installs what Python projects need. There are other ways, so none is no fault. */
export async function checkUv(subject: Subject): Promise<Finding | undefined> {
  const { project } = subject
  if (!project.isPython || (await readPyproject(project)) === undefined) return undefined
  const tool = await subject.tool('uv')
  return 'version' in tool ? ok(tool.version) : warning(`uv ${tool.problem}`, INSTALL_UV)
}

/** git is asked whether keys could get into the repository, if there is one. */
export async function checkGit(subject: Subject): Promise<Finding | undefined> {
  if (!(await isInRepository(subject.project.folder))) return undefined
  const tool = await subject.tool('git')
  return 'version' in tool
    ? ok(tool.version)
    : warning(
        `git ${tool.problem}, but the project is in a repository`,
        'Install git: https://git-scm.com/downloads',
      )
}

/** npm installs and runs the client. */
export async function checkNpm(subject: Subject): Promise<Finding | undefined> {
  if (!(await exists(join(subject.project.folder, 'client/package.json')))) return undefined
  const tool: Tool = await subject.tool('npm')
  return 'version' in tool
    ? ok(tool.version)
    : fault(`npm ${tool.problem}, but the client needs it`, GET_NODE)
}
