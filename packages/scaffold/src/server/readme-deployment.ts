import type { Configuration } from '../configuration.ts'
import { runCommand } from './container.ts'
import { PUBLIC_HOST } from './next-steps.ts'
import type { Traits } from './traits.ts'
import { hasCallServer, projectVariables } from './variables.ts'
import { botcliVersion } from './wheel.ts'

/** How to bring the bot into a cloud, and how to try its image before. */
export function deploymentSection(configuration: Configuration, traits: Traits): string {
  const { agent } = configuration.names
  const { python, callFlow } = traits
  const key = projectVariables(configuration).some(({ name }) => name === 'GOOGLE_APPLICATION_CREDENTIALS')
  const notes = [
    ...(hasCallServer(traits)
      ? [
          `The agent runs the bot. The call server runs beside it, where ${callFlow?.mode === 'dial-in' ? 'the carrier' : 'whoever wants a call'} reaches it; \`BOT_START_URL\` and \`BOT_START_KEY\` tell it where bots are started: the address that \`botcli deploy\` names at its end, and a public key (\`botcli keys create --public calls\`).`,
        ]
      : []),
    ...(key
      ? [
          '`GOOGLE_APPLICATION_CREDENTIALS` is the path of a file, which has to be where the bot runs: mount it (`docker run -v …`), and never put it into the image or into git.',
        ]
      : []),
  ]
  return `## Deployment

You need a cloud: \`botcli cloud\` runs one on your machine and signs you in, \`botcli login URL\` signs you in to another. Then, from this folder on:

\`\`\`
${commands([
  [`botcli secrets set ${agent}-secrets --file server/.env`, 'once, and whenever they change'],
  ['botcli deploy', 'build, roll-out and first health in one stream'],
  [firstSession(agent, traits), 'a first session'],
  [`botcli agent logs -f ${agent}`, 'what the bot says'],
  [`botcli agent rollback ${agent}`, 'back to the version before'],
])}
\`\`\`

\`server/deploy.toml\` has the agent's name, the secret set with its variables, and how many instances there are. A new version takes new sessions once it
is ready; running ones finish on the old one. If it does not start, you see the bot's own traceback, and the old one goes on.

\`server/Dockerfile\` makes an image in which the same runner runs the bot${python === '3.12' ? ' (the services need Python 3.12, which is in it)' : ''}. Commit \`server/uv.lock\`, which \`uv sync\` makes,
and the image has the versions that you have tried.

A cloud that builds the image puts its own botcli into it. To try the image here, by hand: it takes botcli ${botcliVersion()} from npm; before that
version is there, it is made of a copy of botcli: in that copy, \`npm pack --workspaces --pack-destination PROJECT/server\`. Remove the packages
after that, or the cloud takes them, too. Then:

\`\`\`
docker build -t ${agent} server
docker run --rm --env-file server/.env ${trial(agent, traits)}
\`\`\`

\`.env\` never gets into the image. A cloud that has no container engine installs the dependencies into a bundle instead, and runs the bot with its own botcli.${notes.map((note) => `\n\n${note}`).join('')}`
}

/** Commands with remarks that begin below each other. */
function commands(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([command]) => command.length))
  return rows.map(([command, remark]) => `${command.padEnd(width)}    # ${remark}`).join('\n')
}

/** How to talk to the agent for the first time: in the browser, as a phone would, or in a room. */
function firstSession(agent: string, { plain, carriers: [carrier] }: Traits): string {
  if (plain.includes('webrtc')) return `botcli session start ${agent} --open`
  if (carrier !== undefined) return `botcli call --agent ${agent} --as ${carrier}`
  return `botcli session start ${agent} -t ${plain.includes('websocket') ? 'websocket' : 'room'}`
}

/** How to run the image on one's own machine, for the transports that the bot has. */
function trial(agent: string, traits: Traits): string {
  const { plain, onlyCarrier: carrier, libraryWires } = traits
  const peers = plain.includes('webrtc')
  // Peer connections go by UDP, which a container has to be told of.
  if (peers && libraryWires) return `--network host ${agent}`
  const options = [
    ...(peers ? ['--ice-port 40000 --announced-address 127.0.0.1'] : []),
    ...(carrier === undefined ? [] : [`-t ${carrier}`]),
    ...(carrier === undefined || carrier === 'telephony_d' ? [] : [`-x ${PUBLIC_HOST}`]),
  ]
  const ports = ['-p 7860:7860', ...(peers ? ['-p 40000:40000/udp'] : [])].join(' ')
  if (options.length === 0) return `${ports} ${agent}`
  return `${ports} ${agent} \\\n  ${runCommand(traits).join(' ')} ${options.join(' ')}`
}
