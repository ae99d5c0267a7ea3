import type { Configuration } from '../configuration.ts'
import { handlers } from './bot-handlers.ts'
import { transportsOf } from './bot-transports.ts'
import { callHelpers } from './call-code.ts'
import { lookTool, recordingHelpers, tracesHelper } from './feature-code.ts'
import { type Argument, call, named, statement } from './python/expression.ts'
import { Imports } from './python/imports.ts'
import { PROMPT_NAME, serviceCall } from './service-code.ts'
import { type Traits, traitsOf } from './traits.ts'

/** `bot.py`, formatted as the project's own formatter would leave it. */
export function botModule(configuration: Configuration): string {
  const traits = traitsOf(configuration)
  const imports = new Imports()
  // What a part needs is known once it is written, so the imports come last.
  const body = [
    ...callHelpers(traits, imports),
    ...(configuration.recording ? [recordingHelpers(imports)] : []),
    ...(configuration.observability ? [tracesHelper(configuration, imports)] : []),
    runBot(configuration, traits, imports),
    botFunction(configuration, traits, imports),
  ]
  imports.from('botcli', 'main').from('settings', 'check_settings')
  const parts = body.map((part) => `\n\n${part}`).join('')
  return `${docstring(configuration, traits)}
${imports.render()}
${constants(configuration, traits)}${parts}

if __name__ == "__main__":
    main()
else:
    # The runner tells what is missing; a script would end in a traceback.
    check_settings()
`
}

function docstring({ names, mode }: Configuration, { services }: Traits): string {
  const kind =
    mode === 'cascade'
      ? 'It hears, thinks and speaks by a service each'
      : 'It hears and speaks by one service'
  const title =
    names.title
      .replace(/["\\\p{Cc}]+/gu, ' ')
      .replace(/\s+/g, ' ')
      .trim() || names.agent
  return `"""${title}: a voice bot.

${kind}: ${services.map(({ label }) => label).join(', ')}.
\`botcli run\` runs it, and so does \`uv run bot.py\`; README.md says more.
"""
`
}

function constants({ recording }: Configuration, { greets, callFlow }: Traits): string {
  const parts = [
    `#: Who the bot is. Its answers are spoken.
${PROMPT_NAME} = (
    "You are a helpful assistant in a voice call. Your answers are spoken, so keep them short and "
    "plain: no lists, no emojis, no special characters. Be friendly, and answer what was said."
)
`,
  ]
  if (greets) {
    parts.push(`#: What the bot is told when its caller is there.
GREETING = 'Greet the caller with "Hello" and introduce yourself in one short sentence.'
`)
  }
  if (recording) {
    parts.push(`#: One file for each call, written on after so many bytes: about ten seconds.
RECORDINGS = Path(__file__).with_name("recordings")
RECORDING_STEP = 480_000
`)
  }
  if (callFlow?.mode === 'dial-out') {
    parts.push(`#: How often somebody is called who cannot be reached, and the seconds in between.
MAX_ATTEMPTS = 5
ATTEMPT_PAUSE = 3
`)
  }
  return parts.join('')
}

function runBot(configuration: Configuration, traits: Traits, imports: Imports): string {
  const { recording, observability } = configuration
  imports
    .from('botcli', ...(traits.libraryWires ? [] : ['RunnerArguments']))
    .from('pipecat.audio.vad.silero', 'SileroVADAnalyzer')
    .from('pipecat.pipeline.pipeline', 'Pipeline')
    .from('pipecat.pipeline.worker', 'PipelineParams', 'PipelineWorker', 'ProcessorUnusablePolicy')
    .from('pipecat.processors.aggregators.llm_context', 'LLMContext')
    .from(
      'pipecat.processors.aggregators.llm_response_universal',
      'LLMContextAggregatorPair',
      'LLMUserAggregatorParams',
    )
    .from('pipecat.transports.base_transport', 'BaseTransport')
    .from('pipecat.workers.runner', 'WorkerRunner')
  if (recording) imports.from('pipecat.processors.audio.audio_buffer_processor', 'AudioBufferProcessor')
  if (observability) imports.from('pipecat.observers.user_bot_latency_observer', 'UserBotLatencyObserver')
  return `async def run_bot(${parametersOf(configuration, traits, imports)}) -> None:
    """The conversation with one caller."""
${services(traits, imports)}
${traits.looks ? `${lookTool(imports)}\n    context = LLMContext(tools=[look])` : '    context = LLMContext()'}
    user_aggregator, assistant_aggregator = LLMContextAggregatorPair(
        context,
        user_params=LLMUserAggregatorParams(vad_analyzer=SileroVADAnalyzer()),
    )
${recording ? recordingPart() : ''}${observability ? '    latency = UserBotLatencyObserver()\n' : ''}
    pipeline = Pipeline(
        [
${stages(configuration, traits)}        ]
    )
${worker(configuration, traits)}
    runner = WorkerRunner(handle_sigint=args.handle_sigint)
    await runner.add_workers(worker)

${handlers(configuration, traits, imports)}
    await runner.run()
`
}

function parametersOf(
  { observability }: Configuration,
  { sharesSession, libraryWires }: Traits,
  imports: Imports,
): string {
  if (libraryWires) imports.from('pipecat.runner.types', 'RunnerArguments')
  const parameters = ['transport: BaseTransport', 'args: RunnerArguments']
  if (sharesSession) {
    imports.module('aiohttp')
    parameters.push('session: aiohttp.ClientSession')
  }
  if (observability) parameters.push('traced: bool')
  const line = parameters.join(', ')
  return `async def run_bot(${line}) -> None:`.length <= 100
    ? line
    : `\n${parameters.map((parameter) => `    ${parameter},\n`).join('')}`
}

function services({ stt, llm, tts, video }: Traits, imports: Imports): string {
  const made = [
    ['stt', stt],
    ['llm', llm],
    ['tts', tts],
    ['video', video],
  ] as const
  return made
    .flatMap(([name, service]) =>
      service === undefined ? [] : [`${statement(4, `${name} = `, serviceCall(service, imports))}\n`],
    )
    .join('')
}

function recordingPart(): string {
  return `    audio_buffer = AudioBufferProcessor(
        num_channels=2,
        buffer_size=RECORDING_STEP,
        auto_start_recording=True,
    )
`
}

function stages({ recording }: Configuration, { stt, tts, video }: Traits): string {
  const all = [
    'transport.input()',
    ...(stt === undefined ? [] : ['stt']),
    'user_aggregator',
    'llm',
    ...(tts === undefined ? [] : ['tts']),
    ...(video === undefined ? [] : ['video']),
    'transport.output()',
    ...(recording ? ['audio_buffer'] : []),
    'assistant_aggregator',
  ]
  return all.map((stage) => `            ${stage},\n`).join('')
}

/** The rates hold on every wire: the runner makes of them what a phone needs. */
function worker({ observability }: Configuration, { libraryWires }: Traits): string {
  const params = call('PipelineParams', [
    named('audio_in_sample_rate', '16000'),
    named('audio_out_sample_rate', '24000'),
    named('enable_metrics', 'True'),
    named('enable_usage_metrics', 'True'),
  ])
  const observed: readonly Argument[] = observability
    ? [
        named('observers', '[latency]'),
        named('enable_tracing', 'traced'),
        named('conversation_id', 'args.session_id'),
      ]
    : []
  // Only the library's own arguments say how long a silent call may last; otherwise its default holds.
  const idle = libraryWires ? [named('idle_timeout_secs', 'args.pipeline_idle_timeout_secs')] : []
  // By default a bot whose service takes no more work stays in the call, and is silent.
  const policy = named('processor_unusable_policy', 'ProcessorUnusablePolicy.END')
  return statement(
    4,
    'worker = ',
    call('PipelineWorker', [{ value: 'pipeline' }, named('params', params), policy, ...idle, ...observed]),
  )
}

function botFunction(configuration: Configuration, traits: Traits, imports: Imports): string {
  const { observability } = configuration
  const args = ['transport', 'args']
  if (traits.sharesSession) args.push('session')
  if (observability) args.push('traces is not None')
  let run = `await run_bot(${args.join(', ')})\n`
  if (traits.sharesSession) run = `async with aiohttp.ClientSession() as session:\n${indented(run)}`
  if (observability) {
    imports.module('asyncio')
    run = `traces = start_traces()
try:
${indented(run)}finally:
    if traces is not None:
        await asyncio.to_thread(traces.shutdown)
`
  }
  return `async def bot(args: RunnerArguments) -> None:
    """Called once for each call, in a process of its own."""
${transportsOf(configuration, traits, imports)}${indented(run)}`
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '    ')
}
