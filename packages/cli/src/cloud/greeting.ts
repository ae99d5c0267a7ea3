import type { RunningCloud } from '@botcli/cloud'
import { COLOURS, paintFor } from '../paint.ts'
import { isLoopback } from '../run/values.ts'
import type { SignIn } from './sign-in.ts'

/** What the greeting has to know. */
export interface GreetingInput {
  readonly cloud: Pick<RunningCloud, 'url' | 'firstKeys' | 'newKey' | 'newOrganization'>
  readonly host: string
  readonly dataFolder: string
  readonly version: string
  /** Nothing if no key was made to sign in with. */
  readonly signedIn: SignIn | undefined
}

/** The keys of an organization that was asked for; nothing if none was. */
export function formatOrganization(
  { cloud: { newOrganization, url } }: GreetingInput,
  color: boolean,
): string {
  if (newOrganization === undefined) return ''
  const paint = paintFor(color)
  const row = (title: string, text: string) => `  ${paint(COLOURS.dim, title.padEnd(13))}${text}`
  return [
    '',
    '  The keys of the new organization. They are shown this once, so keep them:',
    '',
    row('Private key', paint(COLOURS.cyan, newOrganization.privateKey)),
    row('Public key', paint(COLOURS.cyan, newOrganization.publicKey)),
    row('Sign in', `botcli login ${url}, which asks for the private key`),
    '',
    '',
  ].join('\n')
}

/** The keys that this start has made, and how they are used; nothing if it has made none. */
export function formatKeys({ cloud, signedIn }: GreetingInput, color: boolean): string {
  const { firstKeys, newKey, url } = cloud
  const privateKey = firstKeys?.privateKey ?? newKey
  if (privateKey === undefined) return ''
  const paint = paintFor(color)
  const row = (title: string, text: string) => `  ${paint(COLOURS.dim, title.padEnd(13))}${text}`
  const ofPublic = firstKeys && [
    row('Public key', paint(COLOURS.cyan, firstKeys.publicKey)),
    row('', `for ${url}/v1/public: starting sessions`),
  ]
  const ofOthers = [
    row('Others', 'Keys that were made before still work. Revoke a lost one: botcli keys list'),
  ]
  return [
    '',
    firstKeys
      ? '  Your keys. They are shown this once, so keep them:'
      : '  Your new private key. It is shown this once, so keep it:',
    '',
    row('Private key', paint(COLOURS.cyan, privateKey)),
    row('', `for ${url}/v1: agents, builds, secrets, keys`),
    ...(ofPublic ?? ofOthers),
    row('By HTTP', `curl -H 'Authorization: Bearer PRIVATE_KEY' ${url}/v1/builds`),
    ...(signedIn?.notes ?? []).map((text, index) => row(index === 0 ? 'By command' : '', text)),
    row('', signedIn?.isDone ? 'Next: botcli deploy, in the folder of a bot' : `Next: botcli login ${url}`),
    ...(signedIn?.isDone ? [] : [row('', 'Then: botcli deploy, in the folder of a bot')]),
    '',
    '',
  ].join('\n')
}

/** Where the cloud is, for a terminal. */
export function formatGreeting({ cloud, host, dataFolder, version }: GreetingInput, color: boolean): string {
  const paint = paintFor(color)
  const isKeyShown = cloud.firstKeys !== undefined || cloud.newKey !== undefined
  const row = (title: string, text: string) => `  ${paint(COLOURS.dim, title.padEnd(13))}${text}`
  return [
    '',
    `  ${paint(1, 'botcli cloud')} ${version}`,
    '',
    row('Open', paint(COLOURS.cyan, cloud.url)),
    row('API', `${cloud.url}/v1  (described at ${cloud.url}/v1/openapi.json)`),
    row('Data', dataFolder),
    row('Security', reach(host)),
    ...(isKeyShown ? [] : [row('Lost key', 'botcli cloud --new-key makes another one')]),
    row('Stop', 'Ctrl-C ends it and its agents'),
    '',
    '',
  ].join('\n')
}

/** Who can connect. */
export function reach(host: string): string {
  return isLoopback(host)
    ? 'Only this machine can connect'
    : `Other machines can connect, through ${host}; put a proxy with https before it, since keys are sent`
}
