import { BUILD_LIST_LIMIT, BUILD_STATUSES } from '@botcli/protocol/cloud'
import { EXIT } from '../exit-codes.ts'
import { optional, valued } from '../options/option.ts'
import { action, JSON_OPTION } from '../remote/action.ts'
import { shownSeconds, shownTime, table } from '../remote/table.ts'
import { oneOf, wholeNumber } from '../run/values.ts'
import { findBuildId, readBuildId } from './build-id.ts'
import { buildLines } from './report.ts'

const HEAD = ['ID', 'STATUS', 'FAILURE', 'REGION', 'DOCKERFILE', 'CREATED', 'TOOK']

/** `botcli build list`. */
export const listAction = action({
  name: 'build list',
  summary: 'List builds, the newest first',
  usage: '',
  arguments: { min: 0, max: 0 },
  about: '',
  options: {
    status: optional({
      name: 'status',
      argument: 'STATUS',
      help: `Only those that are ${BUILD_STATUSES.join(', ')}.`,
      parse: oneOf(BUILD_STATUSES),
    }),
    region: optional({
      name: 'region',
      argument: 'REGION',
      help: 'Only those of this region.',
      parse: (text) => text,
    }),
    limit: valued({
      name: 'limit',
      short: 'n',
      argument: 'N',
      default: String(BUILD_LIST_LIMIT.default),
      help: `How many, at most ${BUILD_LIST_LIMIT.max}.`,
      parse: wholeNumber(BUILD_LIST_LIMIT.min, BUILD_LIST_LIMIT.max),
    }),
    offset: valued({
      name: 'offset',
      argument: 'N',
      default: '0',
      help: 'Leave out so many of the newest.',
      parse: wholeNumber(0, 999_999_999),
    }),
    json: JSON_OPTION,
  },
  async work({ values: { status, region, limit, offset } }, desk) {
    const client = await desk.connect()
    const found = await client.listBuilds({ status, region, limit, offset })
    desk.print(found)
    const rows = found.builds.map((build) => [
      build.id,
      build.status,
      build.failure?.code ?? '-',
      build.region,
      build.dockerfilePath,
      shownTime(build.createdAt),
      shownSeconds(build.buildDurationSeconds),
    ])
    const isNarrowed = status !== undefined || region !== undefined || offset > 0
    if (rows.length === 0 && isNarrowed) desk.say('There are no such builds.')
    else if (rows.length === 0) desk.say('There are no builds. Make one: botcli build create')
    else desk.say(...table(HEAD, rows, { unlessSame: ['REGION', 'DOCKERFILE'] }))
    const rest = found.total - offset - rows.length
    if (rest > 0 && !desk.json) desk.note(`(${rest} more: --offset ${offset + rows.length})`)
    return EXIT.ok
  },
})

/** `botcli build get ID`. */
export const getAction = action({
  name: 'build get',
  summary: 'Show a build',
  usage: 'ID',
  arguments: { min: 1, max: 1 },
  about: '',
  options: { json: JSON_OPTION },
  async work({ args }, desk) {
    const asked = readBuildId(args)
    const client = await desk.connect()
    const build = await client.getBuild(await findBuildId(client, asked))
    desk.print({ build })
    desk.say(...buildLines(build, desk.paint))
    return EXIT.ok
  },
})
