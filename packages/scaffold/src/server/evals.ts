import type { Configuration } from '../configuration.ts'
import type { PlannedFile } from '../plan.ts'
import { traitsOf } from './traits.ts'

/** Scenarios to begin with, in the shape that pipecat-ai 1.14 reads. The first ones need no judge. */
export function evalFiles(configuration: Configuration): readonly PlannedFile[] {
  if (!configuration.evals) return []
  const { greets } = traitsOf(configuration)
  const spoken = { path: 'server/evals/starter_audio.yaml', content: audio(greets, configuration.mode) }
  if (configuration.mode === 'realtime') return [spoken]
  return [
    { path: 'server/evals/starter_text.yaml', content: text(greets) },
    { path: 'server/evals/starter_judged.yaml', content: judged(greets) },
    spoken,
  ]
}

function run(file: string): string {
  return `# Run it from server/, beside a running bot (\`botcli run\`):
#   uv run --group evals pipecat eval run evals/${file} -v
# A bot on another port: --bot-url ws://localhost:PORT/ws`
}

/** What makes an empty answer fail; in the sound of a bot there is no such thing. */
const HELLO = `            # Otherwise an empty answer would pass. Change it along with GREETING in bot.py.
            text_contains: "Hello"
`

function greeting(greets: boolean, check = ''): string {
  if (!greets) return ''
  return `      # The bot speaks first. A turn without a user waits for it.
      - expect:
          - event: response
            within_ms: 30000
${check}
`
}

function text(greets: boolean): string {
  return `# Typed words, typed answers: quick, without a judge, without speech.
${run('starter_text.yaml')}
name: starter_text

scenarios:
  - name: answers
    turns:
${greeting(greets, HELLO)}      - user: "Please answer with just the word banana."
        expect:
          - event: response
            within_ms: 30000
            text_contains: "banana"
`
}

function judged(greets: boolean): string {
  return `# Answers that no single word can tell right from wrong: a language model judges them.
${run('starter_judged.yaml')}
#
# The judge is a local Ollama (\`ollama pull gemma4:12b\`). Another address that speaks the same protocol
# goes into \`endpoint\`; any other model comes from a function of yours:
#   eval: {factory: my_module.make_judge}
name: starter_judged

judge:
  eval:
    service: ollama
    model: gemma4:12b

scenarios:
  - name: says what it can do
    turns:
${greeting(greets, '            eval: "the bot greets the caller or introduces itself"\n')}      - user: "What can you help me with?"
        expect:
          - event: response
            eval: "the bot says what it can help with, or offers help"
`
}

function audio(greets: boolean, mode: Configuration['mode']): string {
  const why =
    mode === 'realtime'
      ? 'A bot that hears and speaks by one service has no text in between, so this is how to try it.'
      : 'Slower than text: for before a release.'
  return `# Spoken words, spoken answers: the whole way through the bot. ${why}
# Speech is made and heard on this machine; the models for it are fetched at the first run.
${run('starter_audio.yaml')}
name: starter_audio

user:
  modality: audio
  speech:
    service: kokoro
    voice: af_heart
    sample_rate: 16000

judge:
  modality: audio
  transcription:
    service: moonshine
    model: small-streaming

scenarios:
  - name: answers
    turns:
${greeting(greets)}      - user: "Please answer with just the word banana."
        expect:
          - event: response
            within_ms: 60000
            text_contains: "banana"
`
}
