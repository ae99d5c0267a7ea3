/** What people read who build with a coding agent, without its first line. */
export function gettingStarted(): string {
  return `# Getting started

\`AGENTS.md\` tells your coding agent how a voice bot is made with botcli, \`ASSISTANT.md\` leads it there, and this file is for you.

## The first prompt

Open this folder in your coding agent and tell it what you want as you would tell a colleague. For example:

> Build a phone bot for a flower shop called Petal.
>
> - It answers "Petal, good day, what can I do for you?"
> - It can take an order: which flowers, for when, delivered or fetched, a name and a phone number. It repeats the order before it ends.
> - It can tell opening hours: Monday to Saturday, 9 to 18.
> - Anything else: it offers that somebody calls back.
>
> Callers come by Twilio; I want to try it in the browser first. I have keys of Deepgram, OpenAI and Cartesia. Orders go into a file for now; make that one function
> that I can replace. Add evals for an order and for the opening hours.

What makes it work: the exact greeting, abilities as a list, what to do with everything else, where callers come from, which keys you have, and what may be made up for now.

## While it works

- It should ask for missing decisions, then run \`botcli init\` with options. If it writes the project by hand, tell it to read \`AGENTS.md\`.
- Put keys into \`server/.env\` yourself.
- Talk to the bot early: \`botcli run\`, then open http://localhost:7860 (or, for a phone bot, \`botcli call\` in another terminal).
- When something is wrong in a call, say what you said and what you heard, and ask for a scenario that shows it before it is mended.
`
}
