import { isCarrier, TRANSPORT_IDS } from '@botcli/protocol'
import type { PublicStartResponse } from '@botcli/protocol/cloud'
import { readAgentName } from '../agent/agent-name.ts'
import { parseJsonObject } from '../call/values.ts'
import { EXIT } from '../exit-codes.ts'
import { flag, optional, valued } from '../options/option.ts'
import { action, JSON_OPTION } from '../remote/action.ts'
import type { Desk } from '../remote/desk.ts'
import { orNearest } from '../remote/nearest-agent.ts'
import { withPublicKey } from '../remote/public-key.ts'
import { facts } from '../remote/table.ts'
import { oneOf } from '../run/values.ts'
import { UsageError } from '../usage-error.ts'
import { openInBrowser } from './browser.ts'
import { KEY_OPTION } from './key-option.ts'

/** `botcli session start AGENT`. */
export const startAction = action({
  name: 'session start',
  summary: 'Start a session with an agent',
  usage: 'AGENT',
  arguments: { min: 1, max: 1 },
  about: `It asks the public API as a client of yours would, and shows the answer: where to connect. Nobody is
connected by that; --open talks in the browser, and "botcli call --agent AGENT" calls as a phone would.`,
  options: {
    transport: valued({
      name: 'transport',
      short: 't',
      argument: 'TRANSPORT',
      default: 'webrtc',
      help: `How the caller comes: ${TRANSPORT_IDS.join(', ')}.`,
      parse: oneOf(TRANSPORT_IDS),
    }),
    body: optional({
      name: 'body',
      argument: 'JSON',
      help: 'Data for the bot: the body of its arguments.',
      parse: parseJsonObject,
    }),
    open: flag({ name: 'open', help: 'Open the page on which you talk to it; it starts the session.' }),
    key: KEY_OPTION,
    json: JSON_OPTION,
  },
  async work({ args: [text], values: { transport, body, open, key } }, desk) {
    const agent = readAgentName(text, 'AGENT')
    if (open && (body !== undefined || transport !== 'webrtc')) {
      throw new UsageError([
        '--open shows a page that starts the session itself: give neither --body nor -t.',
      ])
    }
    const client = await desk.connect()
    const wish = {
      client,
      agent,
      env: desk.io.env,
      given: key,
      signal: desk.signal,
      tell: (note: string) => desk.json || desk.note(note),
    }
    const page = `${client.url}/talk/?agent=${agent}`
    if (open) {
      // Whether it is there is better told here than on a page that cannot connect.
      await orNearest(client, agent, () => client.agents.get(agent))
      return withPublicKey(wish, async (_, publicKey) => showPage(page, publicKey, desk))
    }
    const wanted = {
      transport,
      ...(body && { body }),
      ...(transport === 'room' && { createRoom: true as const }),
    }
    const started = await withPublicKey(wish, (asker) => asker.start(agent, wanted))
    desk.print(started)
    desk.say(...startedLines(started, { agent, transport, page, url: client.url }))
    return EXIT.ok
  },
})

/** The key goes behind the `#`, which no server sees. */
async function showPage(page: string, key: string, desk: Desk): Promise<number> {
  const address = `${page}#key=${key}`
  const isOpen = await openInBrowser(address, desk.io.env)
  desk.print({ page: address, opened: isOpen })
  desk.say(isOpen ? `Opened ${page}` : address)
  if (!isOpen && !desk.json) desk.note('No browser could be opened here; open the address yourself.')
  return EXIT.ok
}

function startedLines(
  started: PublicStartResponse,
  { agent, transport, page, url }: Readonly<Record<'agent' | 'transport' | 'page' | 'url', string>>,
): readonly string[] {
  const { sessionId, wsUrl, roomUrl, roomToken, iceConfig } = started
  const short = sessionId.slice(0, 8)
  const isPhone = TRANSPORT_IDS.some((id) => id === transport && isCarrier(id))
  return facts([
    ['session', `${sessionId} (${transport})`],
    ['room', roomUrl],
    ['token', roomToken],
    ['connect', wsUrl && `${wsUrl}  (${isPhone ? 'for the carrier' : 'for the client'}; it opens once)`],
    [
      'connect',
      transport === 'webrtc' ? `POST ${url}/v1/public/${agent}/sessions/${sessionId}/api/offer` : undefined,
    ],
    ['ice', iceConfig?.iceServers.flatMap(({ urls }) => urls).join(', ')],
    ['talk', transport === 'webrtc' ? `${page}  (in a browser, with a session of its own)` : undefined],
    ['logs', `botcli session logs -f ${agent} ${short}`],
    ['stop', `botcli session stop ${agent} ${short}`],
  ])
}
