import type { Configuration } from '../configuration.ts'
import { TRANSPORT_KINDS } from '../options/transports.ts'
import { type ProjectFacts, scenarioNames } from './project-facts.ts'

/** The part of a guide that says how to find out whether the bot works. */
export function howToTest(facts: ProjectFacts): string {
  return `## Test it

1. These find what is broken at once, and mend the form of the code. They need no key:

   \`\`\`sh
   (cd server && uv run ruff check --fix . && uv run ruff format . && uv run pyright)
   (cd server && uv run python -m unittest discover -s tests)
   \`\`\`

2. Run the bot and talk to it:

${waysToTalk(facts.configuration)
  .map((way) => `   - ${way}`)
  .join('\n')}

   The log of \`botcli run\` has each session, how it ended, and what the bot logged.
3. ${evals(facts)}
`
}

function waysToTalk({ transports }: Configuration): readonly string[] {
  const carriers = transports.filter((id) => TRANSPORT_KINDS[id].callFlow === 'carrier')
  const ways = [
    ...(transports.includes('webrtc')
      ? ['In a browser: http://localhost:7860 (the user has to do this).']
      : []),
    ...(transports.includes('room')
      ? ['In a room: http://localhost:7860/daily, with `ROOM_API_KEY` set (the user has to do this).']
      : []),
    ...carriers.map((id) => `\`botcli call --as ${id}\` calls it as this carrier does; no phone is needed.`),
    ...(transports.includes('websocket') ? ['By WebSocket: with a client that speaks RTVI.'] : []),
  ]
  const isPhoned = transports.some((id) => ['room_pstn', 'telephony_a_room_sip'].includes(id))
  return isPhoned ? [...ways, 'By phone: README.md says how. It needs a number, and the user.'] : ways
}

function evals(facts: ProjectFacts): string {
  const { configuration, steps } = facts
  if (!configuration.evals) {
    return 'This project has no evals. A project made with `--eval` has scenarios to start from and the transport entry that they need.'
  }
  const names = scenarioNames(facts).map((name) => `\`${name}\``)
  const command = steps.flatMap(({ commands }) => commands).find((line) => line.includes('pipecat eval run'))
  const sound =
    configuration.mode === 'realtime'
      ? ' This bot hears and speaks by itself, so its scenarios are spoken.'
      : ''
  return `Scenarios play a caller against the running bot. They are in \`server/evals/\` (${names.join(', ')}).${sound} Run them after
   each change, and add one for each ability that you add. Checks that need no judge come first:

   \`\`\`yaml
   - user: "When are you open on Monday?"
     expect:
       - event: function_call
         name: opening_hours
       - event: response
         text_contains: "9"
   \`\`\`

   \`\`\`sh
   ${command ?? ''}
   \`\`\``
}
