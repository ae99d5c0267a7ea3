import type { Configuration } from '../configuration.ts'
import { runCommand } from './container.ts'
import { PUBLIC_HOST } from './next-steps.ts'
import type { Traits } from './traits.ts'
import { hasCallServer, projectVariables } from './variables.ts'
import { botcliVersion } from './wheel.ts'

/** How to make an image of the bot and try it. */
export function deploymentSection(configuration: Configuration, traits: Traits): string {
  const { agent } = configuration.names
  const { python, callFlow } = traits
  const key = projectVariables(configuration).some(({ name }) => name === 'GOOGLE_APPLICATION_CREDENTIALS')
  const notes = [
    ...(hasCallServer(traits)
      ? [
          `The image runs the bot. The call server runs beside it, where ${callFlow?.mode === 'dial-in' ? 'the carrier' : 'whoever wants a call'} reaches it; \`BOT_START_URL\` and \`BOT_START_KEY\` tell it where bots are started.`,
        ]
      : []),
    ...(key
      ? [
          '`GOOGLE_APPLICATION_CREDENTIALS` is the path of a file, which has to be where the bot runs: mount it (`docker run -v …`), and never put it into the image or into git.',
        ]
      : []),
  ]
  return `## Deployment

\`server/Dockerfile\` makes an image in which the same runner runs the bot${python === '3.12' ? ' (the services need Python 3.12, which is in it)' : ''}. Commit \`server/uv.lock\`, which \`uv sync\` makes,
and the image has the versions that you have tried.

The image takes botcli ${botcliVersion()} from npm; before that version is there, it is made of a copy of botcli: in that copy,
\`npm pack --workspaces --pack-destination PROJECT/server\`. Try the image here:

\`\`\`
docker build -t ${agent} server
docker run --rm --env-file server/.env ${trial(agent, traits)}
\`\`\`

\`server/deploy.toml\` has the agent's name, the secret set with its variables, and how many instances there are. \`.env\` never gets into
the image.${notes.map((note) => `\n\n${note}`).join('')}`
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
