import { PUBLIC_HOST } from './next-steps.ts'
import type { Carrier, Traits } from './traits.ts'

/** How to bring phone calls to the bot. */
export function phoneSections({ carriers, callFlow }: Traits): readonly string[] {
  const sections: string[] = []
  if (carriers.length > 0) {
    sections.push(`## Phone calls

Make your machine reachable under a public name, for example by a tunnel to port 7860. Here it is \`${PUBLIC_HOST}\`.

${carriers.map(carrierSection).join('\n\n')}

To try it without a carrier, \`botcli call --as ${carriers[0]}\` plays one.`)
  }
  if (callFlow !== undefined) sections.push(callFlow.by === 'pstn' ? PSTN[callFlow.mode] : SIP[callFlow.mode])
  return sections
}

function carrierSection(carrier: Carrier): string {
  const run = `\`botcli run -t ${carrier} -x ${PUBLIC_HOST}\``
  const steps: Readonly<Record<Carrier, string>> = {
    telephony_a: `**Twilio**: run ${run}, and set the voice webhook of your number ("A call comes in") to \`POST https://${PUBLIC_HOST}/\`.`,
    telephony_b: `**Telnyx**: run ${run}, and set the webhook of your TeXML application to \`POST https://${PUBLIC_HOST}/\`; then give the application to your number.`,
    telephony_c: `**Plivo**: run ${run}, and set the answer URL of your application to \`POST https://${PUBLIC_HOST}/\`; then give the application to your number.`,
    telephony_d: `**Exotel**: run \`botcli run -t telephony_d\`, and give the Voicebot applet of your flow the address \`wss://${PUBLIC_HOST}/ws\`.`,
  }
  return steps[carrier]
}

const PSTN = {
  'dial-in': `## Calls to a phone number

1. Somebody calls your number at the room provider. It puts the caller on hold and calls the webhook of the runner.
2. The runner makes a room with a phone line and starts the bot there.
3. The bot fetches the caller into the room and greets.

Buy a number at https://dashboard.daily.co, make the runner (\`botcli run --dialin\`) reachable under a public name, and set the dial-in
webhook of the number to \`https://${PUBLIC_HOST}/daily-dialin-webhook\`. With the secret of these settings in \`ROOM_DIALIN_SECRET\` nobody
else can start bots.`,
  'dial-out': `## Calls from the bot

1. You ask \`server.py\` for a call.
2. It has the runner make a room and start the bot there, with the number in \`args.body\`.
3. The bot calls, up to five times, and waits for the first word of whom it called.

Dial-out has to be enabled for your account at https://dashboard.daily.co, with a number to call from. With \`botcli run\` and
\`uv run server.py\` running:

\`\`\`
curl localhost:8080/dialout -H 'Content-Type: application/json' -d '{"phone_number": "+15551234567"}'
\`\`\`

Calls cost money. \`server.py\` listens on this machine only; before you change that, set \`DIALOUT_TOKEN\`.`,
} as const

const SIP = {
  'dial-in': `## Calls to a phone number

1. Somebody calls your number at Twilio, which asks \`server.py\` what to do.
2. \`server.py\` has the runner make a room with a SIP address and start the bot there; the caller waits.
3. As soon as the room is ready, the bot has Twilio put the call through to it, and greets.

Make \`server.py\` (port 8080) reachable under a public name with https, and set the voice webhook of your number ("A call comes in") to
\`POST https://${PUBLIC_HOST}/call\`. Only what Twilio has signed is taken.`,
  'dial-out': `## Calls from the bot

1. You ask \`server.py\` for a call.
2. It has the runner make a room and start the bot there, with the address in \`args.body\`.
3. The bot calls that SIP address at Twilio, whose SIP domain puts it through to a phone. The bot waits for the first word.

At https://console.twilio.com make a SIP domain whose voice webhook answers with
\`<Response><Dial callerId="+15557654321">{{#e164}}{{To}}{{/e164}}</Dial></Response>\`, with your own number as the caller. SIP dial-out has to
be enabled for your account at https://dashboard.daily.co. With \`botcli run\` and \`uv run server.py\` running:

\`\`\`
curl localhost:8080/dialout -H 'Content-Type: application/json' -d '{"sip_uri": "sip:+15551234567@my-domain.sip.twilio.com"}'
\`\`\`

Calls cost money. \`server.py\` listens on this machine only; before you change that, set \`DIALOUT_TOKEN\`.`,
} as const
