import { EXIT } from '../exit-codes.ts'
import { action, JSON_OPTION } from '../remote/action.ts'
import type { Desk } from '../remote/desk.ts'
import { canAsk, obtainHidden, readInput } from '../remote/input.ts'
import { UsageError } from '../usage-error.ts'
import { REGION_OPTION } from './set.ts'
import { readSetName } from './set-name.ts'

const MAX_HOST = 255
const HOST =
  /^(?:https?:\/\/)?(?:[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::\d{1,5})?(?:\/[^?#@\s]*)?$/i
const MAX_CREDENTIALS = 32 * 1024

/** `botcli secrets image-pull-secret NAME HOST [CREDENTIALS]`. */
export const imagePullSecretAction = action({
  name: 'secrets image-pull-secret',
  summary: 'Keep what opens a registry of images, as a set of its own',
  usage: 'NAME HOST [CREDENTIALS]',
  arguments: { min: 2, max: 3 },
  about: `HOST is the registry, such as ghcr.io, localhost:5000 or https://index.docker.io/v1/. CREDENTIALS are
USER:TOKEN, as they are: they are encoded for you. Without them they are asked for, and do not show;
where there is no terminal, and for -, they are read from stdin. Others on this machine can see a
command line, and your shell keeps it. A set of this kind is replaced as a whole.`,
  options: { region: REGION_OPTION, json: JSON_OPTION },
  async work({ args: [name, typedHost, given], values: { region } }, desk) {
    const set = readSetName(name)
    const host = readHost(typedHost)
    const secretValue = Buffer.from(readCredentials(await obtain(given, host, desk))).toString('base64')
    const client = await desk.connect()
    const done = await client.putSecrets(set, {
      isImagePullSecret: true,
      host,
      secretValue,
      ...(region !== undefined && { region }),
    })
    desk.say(`${set} (${done.region}) opens the registry ${host}.`)
    desk.print({ set, region: done.region, host })
    return EXIT.ok
  },
})

async function obtain(given: string | undefined, host: string, desk: Desk): Promise<string> {
  if (given !== undefined && given !== '-') return given
  if (given === undefined && canAsk(desk.io)) return obtainHidden(`USER:TOKEN for ${host}`, desk)
  return readInput(desk.io, desk.signal)
}

function readHost(text = ''): string {
  if (HOST.test(text) && text.length <= MAX_HOST) return text
  // Somebody may have left the host out, and this is what nobody should see.
  throw new UsageError([
    'HOST must be the address of a registry, such as ghcr.io or localhost:5000, without a user and without spaces.',
  ])
}

/** Checks credentials. What is wrong with them is told without them. */
function readCredentials(text: string): string {
  const credentials = text.trim()
  if (credentials === '') throw new UsageError(['No credentials were given: USER:TOKEN.'])
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  if (!/^[^:\s\u0000-\u001f\u007f]+:[^\u0000-\u001f\u007f]+$/u.test(credentials)) {
    const isEncoded = /^[^:]+:./.test(Buffer.from(credentials, 'base64').toString('latin1'))
    const hint = isEncoded && !credentials.includes(':') ? ' Give them as they are, not in base64.' : ''
    throw new UsageError([`CREDENTIALS must be USER:TOKEN, on one line.${hint}`])
  }
  if (Buffer.byteLength(credentials) <= MAX_CREDENTIALS) return credentials
  throw new UsageError([`CREDENTIALS must have at most ${MAX_CREDENTIALS} bytes.`])
}
