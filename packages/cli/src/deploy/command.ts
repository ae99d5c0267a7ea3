import { action } from '../remote/action.ts'
import { Deployment } from './deployment.ts'
import { DEPLOY_OPTIONS } from './options.ts'
import { planDeploy } from './plan.ts'

/** `botcli deploy [DIR]`. */
export const deployCommand = action({
  name: 'deploy',
  summary: 'Build a bot, run it in the cloud, and show how it goes',
  usage: '[DIR]',
  arguments: { min: 0, max: 1 },
  about: `DIR is a folder with a deploy.toml, or a project that "botcli init" has made; by default, the current
one. The agent that deploy.toml names is made, or changed; what neither it nor an option says stays as
it is. A build of the same files that succeeded is taken again. New sessions go to the new deployment
once it is ready; until then, and if it fails, the one before takes them. Ctrl-C cancels a build; a
roll-out goes on without you.`,
  exitCodes: `  0    the agent takes sessions with what was deployed
  1    the build or the roll-out failed or took too long, or the cloud refused
  2    the command line or deploy.toml is wrong
  130  Ctrl-C was pressed`,
  options: DEPLOY_OPTIONS,
  async work({ args: [directory = '.'], values }, desk) {
    const plan = await planDeploy(directory, values, desk.io.cwd())
    const { noCache, force, detach, wait: limitMs } = values
    return new Deployment(desk, plan, { noCache, force, detach, limitMs }).run()
  },
})
