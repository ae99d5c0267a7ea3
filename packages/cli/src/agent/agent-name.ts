import { agentName } from '@botcli/protocol/cloud'
import { ValueError } from '../options/option.ts'
import { UsageError } from '../usage-error.ts'

const ALLOWED = 'must be 2 to 54 lower case letters, digits and hyphens, with a letter or digit at both ends'

/** The name of an agent, as an argument. */
export function readAgentName(text = '', argument = 'NAME'): string {
  const parsed = agentName.safeParse(text)
  if (parsed.success) return parsed.data
  throw new UsageError([`${argument} ${ALLOWED}, not ${JSON.stringify(text)}.`])
}

/** The name of an agent, as the value of an option. */
export function parseAgentName(text: string): string {
  const parsed = agentName.safeParse(text)
  if (parsed.success) return parsed.data
  throw new ValueError(`${ALLOWED}, not ${JSON.stringify(text)}.`)
}
