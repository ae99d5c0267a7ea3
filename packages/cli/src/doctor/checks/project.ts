import { basename } from 'node:path'
import { AGENTS_FILE, ANSWERS_FILE, botcliVersion, compareVersions, quoteForShell } from '@botcli/scaffold'
import { type Finding, fault, ok, warning } from '../finding.ts'
import { inProject } from '../project.ts'
import { versionWithAnswers } from '../repository.ts'
import type { Subject } from '../subject.ts'

const WITHOUT = 'only what can be seen without it is checked'

/** Whether it is known what the project was made from. */
export async function checkProject(subject: Subject): Promise<Finding> {
  const { answers, hasAnswers, madeBy, awaitsAgent } = subject.project
  if (answers !== undefined) return ok(`made by botcli ${answers.version}`)
  if (awaitsAgent) return ok(`guides for a coding agent (${AGENTS_FILE}), which is to make a project here`)
  if (!hasAnswers) return ok(`not made by botcli init (no ${ANSWERS_FILE}); ${WITHOUT}`)
  const own = botcliVersion()
  const isForeign = madeBy !== undefined && madeBy !== own
  const why = isForeign
    ? `was written by botcli ${madeBy} and is not understood by this one (${own})`
    : 'is damaged'
  const message = `${ANSWERS_FILE} ${why}; ${WITHOUT}`
  return isForeign && compareVersions(madeBy, own) > 0
    ? warning(message, `Use botcli ${madeBy} or newer for this project`)
    : warning(message, await mendAnswers(subject))
}

/** Whether there is a bot that can be run. */
export async function checkBot({ project, shell }: Subject): Promise<Finding> {
  const { bot, botProblem, hasAnswers, awaitsAgent, folder } = project
  if (bot !== undefined) return ok(inProject(project, bot.path))
  const make = `botcli init ${shell.target(folder)}`
  if (awaitsAgent) {
    return fault(
      `there is none yet: ${AGENTS_FILE} tells your coding agent how to make one, or make it now`,
      make,
    )
  }
  return fault(botProblem ?? 'no bot was found', hasAnswers ? undefined : make)
}

/** What brings back the file with the answers: git, or else the questions once more, in a project beside this one. */
async function mendAnswers(subject: Subject): Promise<string> {
  const { project, shell } = subject
  const version = await versionWithAnswers(subject)
  if (version !== undefined) {
    return shell.inFolder(project.folder, ['git checkout', ...version, '--', ANSWERS_FILE].join(' '))
  }
  // A project is called like its folder, so the other one has to have the same name.
  const fresh = `"$fresh"/${quoteForShell(basename(project.folder))}`
  const copy = `cp ${fresh}/${ANSWERS_FILE} ${shell.path(project.folder)}/`
  return `fresh=$(mktemp -d) && botcli init ${fresh} && ${copy}`
}
