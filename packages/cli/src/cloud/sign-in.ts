import type { Io } from '../io.ts'
import { CREDENTIAL_VARIABLES, readStoredCredentials, writeCredentials } from '../remote/credentials.ts'

/** Signs this machine's user in to a new cloud, unless another one would be forgotten for it. Gives what to tell. */
export async function signIn(url: string, key: string, env: Io['env']): Promise<readonly string[]> {
  const notes = Object.values(CREDENTIAL_VARIABLES)
    .filter((name) => env[name])
    .map((name) => `${name} is set and wins over it.`)
  try {
    const stored = await readStoredCredentials(env)
    if (stored && stored.url !== url) {
      return [`You stay signed in to ${stored.url}. For this one, run: botcli login ${url}`]
    }
    const file = await writeCredentials({ url, key }, env)
    return [`You are signed in with the private key (${file}).`, ...notes]
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return [`You could not be signed in: ${why} Then run: botcli login ${url}`]
  }
}
