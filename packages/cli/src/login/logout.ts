import { EXIT } from '../exit-codes.ts'
import { action, JSON_OPTION } from '../remote/action.ts'
import { CREDENTIAL_VARIABLES, credentialsFile, removeCredentials } from '../remote/credentials.ts'

/** `botcli logout`. */
export const logoutCommand = action({
  name: 'logout',
  summary: 'Forget the key of the cloud that you are signed in to',
  usage: '',
  arguments: { min: 0, max: 0 },
  about: 'The key stays valid; "botcli keys revoke" ends it.',
  options: { json: JSON_OPTION },
  async work(_, desk) {
    const { env } = desk.io
    const removed = await removeCredentials(env)
    desk.say(removed ? `Signed out: ${credentialsFile(env)} is removed.` : 'You were not signed in.')
    desk.print({ removed })
    for (const variable of Object.values(CREDENTIAL_VARIABLES)) {
      if (env[variable]) desk.note(`${variable} is set, and still holds.`)
    }
    return EXIT.ok
  },
})
