import type { Io } from '../io.ts'
import {
  CREDENTIAL_VARIABLES,
  type Credentials,
  readStoredCredentials,
  writeCredentials,
} from '../remote/credentials.ts'

/** What was done about signing in. */
export interface SignIn {
  readonly isDone: boolean
  /** What to tell. */
  readonly notes: readonly string[]
}

/** Signs this machine's user in to a new cloud, unless another one would be forgotten for it. */
export async function signIn(credentials: Credentials, env: Io['env']): Promise<SignIn> {
  const { url } = credentials
  const notes = Object.values(CREDENTIAL_VARIABLES)
    .filter((name) => env[name])
    .map((name) => `${name} is set and wins over it.`)
  try {
    const stored = await readStoredCredentials(env)
    if (stored && stored.url !== url) {
      return { isDone: false, notes: [`You stay signed in to ${stored.url}.`] }
    }
    const file = await writeCredentials(credentials, env)
    return { isDone: true, notes: [`You are signed in with the private key (${file}).`, ...notes] }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return { isDone: false, notes: [`You could not be signed in: ${why}`] }
  }
}
