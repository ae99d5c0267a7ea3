import type { Configuration } from '../configuration.ts'
import { callHandlers } from './call-code.ts'
import { recordingHandler } from './feature-code.ts'
import type { Imports } from './python/imports.ts'
import type { Traits } from './traits.ts'

/** What happens in a conversation, from its first word to its end. */
export function handlers(configuration: Configuration, traits: Traits, imports: Imports): string {
  imports.from('loguru', 'logger')
  return [
    ...callHandlers(traits, imports),
    ...beginning(configuration, traits, imports),
    END,
    ...(configuration.transcription ? [transcription(imports)] : []),
    ...(configuration.recording ? [recordingHandler(traits)] : []),
    ...(configuration.observability ? [LATENCY] : []),
  ].join('\n')
}

const CALLER = `        nonlocal caller_id
        caller_id = transport.get_client_id(client)
`

const GREET = `    greeted = False

    async def greet() -> None:
        nonlocal greeted
        if greeted:
            return
        greeted = True
        context.add_message({"role": "developer", "content": GREETING})
        await worker.queue_frames([LLMRunFrame()])
`

const READY = `    @worker.rtvi.event_handler("on_client_ready")
    async def on_client_ready(rtvi):
        await greet()
`

/** A page or an app says when it can be spoken to. Phones and whoever joins a room by the provider's page do not. */
function beginning(
  { botType }: Configuration,
  { greets, looks, inRooms, plain }: Traits,
  imports: Imports,
): readonly string[] {
  const connected = `    @transport.event_handler("on_client_connected")
    async def on_client_connected(transport, client):
${looks ? CALLER : ''}        logger.info("The caller is there")
`
  if (!greets) return [connected]
  imports.from('pipecat.frames.frames', 'LLMRunFrame')
  if (botType === 'telephony' || plain.length === 0) {
    return [GREET, `${connected}        await greet()\n`]
  }
  if (!inRooms) return [GREET, connected, READY]
  imports.from('pipecat.transports.daily.transport', 'DailyTransport')
  const inRoom = `        if isinstance(transport, DailyTransport):
            # Whoever joins by the room provider's own page never says to be ready.
            await greet()
`
  return [GREET, `${connected}${inRoom}`, READY]
}

const END = `    @transport.event_handler("on_client_disconnected")
    async def on_client_disconnected(transport, client):
        logger.info("The caller is gone")
        await runner.cancel()
`

function transcription(imports: Imports): string {
  imports.from(
    'pipecat.processors.aggregators.llm_response_universal',
    'AssistantTurnStoppedMessage',
    'UserTurnStoppedMessage',
  )
  return `    @user_aggregator.event_handler("on_user_turn_stopped")
    async def on_user_turn_stopped(aggregator, strategy, message: UserTurnStoppedMessage):
        logger.info(f"[{message.timestamp}] caller: {message.content}")

    @assistant_aggregator.event_handler("on_assistant_turn_stopped")
    async def on_assistant_turn_stopped(aggregator, message: AssistantTurnStoppedMessage):
        logger.info(f"[{message.timestamp}] bot: {message.content}")
`
}

const LATENCY = `    @latency.event_handler("on_latency_measured")
    async def on_latency_measured(observer, seconds: float):
        logger.info(f"Answered after {seconds:.2f} s")
`
