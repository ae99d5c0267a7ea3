import { commandFor } from '../options/command-line.ts'
import { fileHas, type ProjectFacts } from './project-facts.ts'

/** The part of a guide that explains the bot. */
export function howItWorks({ configuration }: ProjectFacts): string {
  const middle =
    configuration.mode === 'cascade' ? ['stt', 'user context', 'llm', 'tts'] : ['user context', 'llm']
  const video = configuration.video === undefined ? [] : ['video']
  const pipeline = ['transport input', ...middle, ...video, 'transport output', 'assistant context']
  return `## How the bot works

The runner calls \`bot(args)\` in \`server/bot.py\` once for each call, in a process of its own. It makes the transport by
\`create_transport\`, builds the pipeline and runs it until the caller leaves:

\`\`\`
${pipeline.join(' -> ')}
\`\`\`

- Data moves through the pipeline as frames. To make the bot do something, queue a frame on the worker; do not call methods of services.
- The context holds the conversation. The assistant's side of it comes after the output, so that it has what was really said.
- A caller may interrupt at any time. What was not yet spoken is dropped, and work of yours must survive that.
- Calls share nothing. Open connections and files inside of \`bot\`, not when the module is imported.
- The pipeline is run by a \`PipelineWorker\`. \`PipelineTask\` and \`EndTaskFrame\` are old names; do not use them.
`
}

/** The part of a guide that says what to do for common changes. */
export function howToChange(facts: ProjectFacts): string {
  const { configuration } = facts
  const { names, mode } = configuration
  const greeting = fileHas(facts, 'server/bot.py', '\nGREETING = ')
    ? `
- **What it says first**: \`GREETING\` in \`server/bot.py\` tells the model what to say; it chooses the words.${fixedGreeting(mode)}`
    : ''
  return `## Change it

- **Who it is and what it knows**: \`SYSTEM_INSTRUCTION\` in \`server/bot.py\`. Its answers are spoken, so keep the part about short sentences
  without lists, markup and emoji.${greeting}
- **What it can do**: tools. A tool is an async function; its name, types and doc comment are what the model sees.${mode === 'cascade' ? '' : ' Not every realtime\n  service takes tools.'} List it on the
  context, and nothing else has to be registered. Keep it quick, because the caller waits:

  \`\`\`python
  from pipecat.services.llm_service import FunctionCallParams


  async def opening_hours(params: FunctionCallParams, day: str) -> None:
      """Tells when the shop is open.

      Args:
          day: The day of the week, in English.
      """
      await params.result_callback({"hours": "9 to 18"})


  context = LLMContext(tools=[opening_hours])
  \`\`\`

- **Ending the call**: from a tool, after its result, by \`await params.llm.push_frame(EndWorkerFrame())\` (from \`pipecat.frames.frames\`).
  What is still to be said is said. Do not exit the process.
- **A message for one moment** (a fact, the next step): \`context.add_message({"role": "developer", "content": ...})\`, then
  \`await worker.queue_frames([LLMRunFrame()])\`. Leave the system instruction as it is during a call.
- **Another service or transport**: see what \`botcli init\` writes for it and take that over. \`botcli init --list-options\` has all ids. This
  command makes a project like this one beside it; change its options, then compare with \`diff -r\`:

  \`\`\`sh
  ${commandFor(configuration, `../${names.agent}-other`, names.title)}
  \`\`\`

  Mind all places: imports and code in \`server/bot.py\`, the extra of \`pipecat-ai\` in \`server/pyproject.toml\`, variables in
  \`server/.env.example\` and \`server/settings.py\`.
- **A library**: \`(cd server && uv add NAME)\`.
- **This guide**: \`botcli init . --overwrite-guide\` writes it and \`ASSISTANT.md\` anew.
`
}

function fixedGreeting(mode: 'cascade' | 'realtime'): string {
  if (mode === 'realtime') return ''
  return ` For words that
  are always the same, queue \`TTSSpeakFrame("...")\` (from \`pipecat.frames.frames\`) instead of \`LLMRunFrame()\`.`
}
