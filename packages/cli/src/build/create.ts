import { flag, optional } from '../options/option.ts'
import { action, JSON_OPTION } from '../remote/action.ts'
import { notEmpty } from '../remote/values.ts'
import { BuildCreation } from './creation.ts'

/** `botcli build create [DIR]`. */
export const createAction = action({
  name: 'build create',
  summary: 'Build a folder in the cloud, and show how it goes',
  usage: '[DIR]',
  arguments: { min: 0, max: 1 },
  about: `DIR is a folder with a container build file, or a project that "botcli init" has made; by default,
the current one. If it has a deploy.toml, its [build] section says what to build. What .dockerignore
names is not sent, nor what [build.exclude] in deploy.toml does; files that hold secrets (.env, keys)
never are. A build of the same files that succeeded is taken again. Ctrl-C cancels the build; a
second one leaves at once.`,
  exitCodes: `  0    the build succeeded; with --detach: it was made; with --list: the files were listed
  1    it failed, took too long, was cancelled, or could not be made
  2    the command line is wrong
  130  Ctrl-C was pressed`,
  options: {
    dockerfile: optional({
      name: 'dockerfile',
      argument: 'PATH',
      default: 'Dockerfile, or what deploy.toml says',
      help: 'The container build file, from DIR on.',
      parse: notEmpty,
    }),
    region: optional({
      name: 'region',
      argument: 'REGION',
      default: "what deploy.toml says, or the organization's",
      help: 'Where to build.',
      parse: notEmpty,
    }),
    noCache: flag({ name: 'no-cache', help: 'Build even if the same files were built before.' }),
    list: flag({ name: 'list', help: 'List what would be sent, and send nothing.' }),
    detach: flag({ name: 'detach', short: 'd', help: 'Do not wait for the build.' }),
    json: flag({
      ...JSON_OPTION,
      help: 'Print what happens as JSON, a line for each event, the outcome last.',
    }),
  },
  work: ({ args: [directory = '.'], values }, desk) => new BuildCreation(desk).run({ directory, ...values }),
})
