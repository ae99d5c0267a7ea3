import { SCAFFOLD_TRANSPORTS } from '../configuration.ts'
import { TRANSPORT_KINDS } from '../options/transports.ts'

/** The guide for a folder in which a coding agent will make a project, without its first line. */
export function emptyGuide(): string {
  const transports = SCAFFOLD_TRANSPORTS.map((id) => `| \`${id}\` | ${TRANSPORT_KINDS[id].label} |`)
  return `# Guide for coding agents: a voice bot with botcli

There is no bot in this folder yet. You will make one with \`botcli\` and then change it. It will be written in Python with \`pipecat-ai\`.

## First: ask, then scaffold

Do not write the project by hand. Find out from the user

1. what the bot is for, what it must be able to do, and its first sentence;
2. how people reach it: in a browser or by phone;
3. which vendors they have keys of;
4. whether they want a page of their own (\`--client-framework react\` or \`vanilla\`); the runner has a simple one.

Then see what there is, check your choice, and make it, all without questions:

\`\`\`sh
botcli init --list-options
botcli init . --transport webrtc --mode cascade --stt deepgram_stt --llm openai_llm --tts cartesia_tts --eval --dry-run
botcli init . --transport webrtc --mode cascade --stt deepgram_stt --llm openai_llm --tts cartesia_tts --eval --overwrite-guide
\`\`\`

Everything that is missing or wrong is listed at once, with the allowed values; \`--json\` gives the same for programs. \`botcli init --help\` has all options.

| transport | how callers come |
|---|---|
${transports.join('\n')}

- Give all transports at once; adding one later by hand is more work. \`webrtc\` beside a phone transport lets the user try the bot in a browser.
- \`--eval\` makes the bot testable by scenarios. Take it.
- \`--mode realtime --realtime openai_realtime\` is one service for hearing, thinking and speaking instead of three.
- \`--overwrite-guide\` replaces this guide by one of the project that was made: where things are, how to run, test and change it. Read that one then.

## Then: make it work before you make it fancy

1. Follow the steps that the command printed. Ask the user for keys; never invent, print or commit one.
2. Run the bot as it is, run its first scenario, and let the user talk to it.
3. Change \`server/bot.py\` in small steps, and after each run the scenarios in \`server/evals\`.
4. Look classes and parameters up in the installed \`pipecat\` package before you use them; what you remember may be of another version.
`
}
