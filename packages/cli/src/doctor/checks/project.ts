import { ANSWERS_FILE, botcliVersion } from '@botcli/scaffold'
import { type Finding, fault, ok, warning } from '../finding.ts'
import { inProject } from '../project.ts'
import type { Subject } from '../subject.ts'

/** Whether it is known what the project was made from. */
export async function checkProject({ project }: Subject): Promise<Finding> {
  const { answers, hasAnswers } = project
  if (answers !== undefined) return ok(`made by botcli ${answers.version}`)
  if (hasAnswers) {
    const why = `${ANSWERS_FILE} is not understood by botcli ${botcliVersion()}; only what can be seen without it is checked`
    return warning(why, 'npm install --global botcli@latest')
  }
  return ok(`not made by botcli init (no ${ANSWERS_FILE}); only what can be seen without it is checked`)
}

/** Whether there is a bot that can be run. */
export async function checkBot({ project, shell }: Subject): Promise<Finding> {
  const { bot, botProblem, hasAnswers, folder } = project
  if (bot !== undefined) return ok(inProject(project, bot.path))
  const fix = hasAnswers ? undefined : `botcli init ${shell.path(folder)}`
  return fault(botProblem ?? 'no bot was found', fix)
}
