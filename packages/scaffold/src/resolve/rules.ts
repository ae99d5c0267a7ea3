import type { Draft } from '../options/conditions.ts'
import { optionByKey } from '../options/table.ts'
import { callFlows, TRANSPORT_KINDS, WEB_TRANSPORTS } from '../options/transports.ts'
import type { GivenOptions } from './given.ts'
import type { Problem } from './problem.ts'

/** Options that are right alone and wrong together. */
export function ruleProblems(given: GivenOptions, draft: Draft): readonly Problem[] {
  return [
    ...phoneTransportsOfWebBots(given, draft),
    ...severalCallFlows(draft),
    ...serverOfVanillaClient(given, draft),
    ...avatarWithoutVideo(given),
  ]
}

function phoneTransportsOfWebBots(
  given: GivenOptions,
  { botType, transports, rightTransports = transports ?? [] }: Draft,
): readonly Problem[] {
  const type = given.get('botType')
  if (type === undefined || botType !== 'web') return []
  return rightTransports
    .filter((id) => TRANSPORT_KINDS[id].telephony)
    .map((id) => ({
      ...about('transports'),
      code: 'conflict',
      value: id,
      message: `The transport ${id} is for telephony bots, but ${type.spelled} says web. Leave that out, or take another transport.`,
      allowed: WEB_TRANSPORTS,
    }))
}

function severalCallFlows({ transports, rightTransports = transports ?? [] }: Draft): readonly Problem[] {
  const flows = callFlows(rightTransports)
  if (flows.length < 2) return []
  return [
    {
      ...about('transports'),
      code: 'conflict',
      value: flows,
      message: `The transports ${flows.join(' and ')} cannot be in one project: phone calls come in a different way with each. Take one of them, or make a project for each.`,
    },
  ]
}

function serverOfVanillaClient(given: GivenOptions, { clientFramework }: Draft): readonly Problem[] {
  const server = given.get('clientServer')
  if (clientFramework !== 'vanilla' || server?.value !== 'nextjs') return []
  return [
    {
      ...about('clientServer'),
      code: 'conflict',
      value: server.value,
      message: `${server.spelled} nextjs needs a React client; a vanilla one is built by Vite.`,
      allowed: ['vite'],
    },
  ]
}

function avatarWithoutVideo(given: GivenOptions): readonly Problem[] {
  const video = given.get('video')
  const output = given.get('videoOutput')
  if (video === undefined || output === undefined || output.value !== false) return []
  // What is typed wins over the file.
  if (video.from === 'flag' && output.from === 'file') return []
  return [
    {
      ...about('videoOutput'),
      code: 'conflict',
      value: false,
      message: `A video avatar (${video.spelled}) is sent as video, but ${output.spelled} turns that off. Leave out one of them.`,
    },
  ]
}

function about(key: Parameters<typeof optionByKey>[0]): Pick<Problem, 'field' | 'flag'> {
  const { field, flag } = optionByKey(key)
  return { field, flag: `--${flag}` }
}
