import { isFinal } from '@botcli/protocol/cloud'
import { EXIT } from '../exit-codes.ts'
import { action, JSON_OPTION } from '../remote/action.ts'
import { findBuildId, readBuildId } from './build-id.ts'

/** `botcli build remove ID`. */
export const removeAction = action({
  name: 'build remove',
  summary: 'Remove a build that is over, with its log and what it made',
  usage: 'ID',
  arguments: { min: 1, max: 1 },
  about: 'It cannot be brought back. A build that is not over is left alone.',
  options: { json: JSON_OPTION },
  async work({ args }, desk) {
    const asked = readBuildId(args)
    const client = await desk.connect()
    const id = await findBuildId(client, asked)
    const { status } = await client.getBuild(id, desk.signal)
    // To remove one that is not over would cancel it.
    if (!isFinal(status)) {
      desk.fail('CONFLICT', `Build ${id} is ${status}. End it first: botcli build cancel ${id}`)
      return EXIT.failed
    }
    await client.deleteBuild(id, desk.signal)
    desk.print({ removed: id })
    desk.say(`Build ${id} is removed.`)
    return EXIT.ok
  },
})
