import type { Configuration } from '../configuration.ts'
import { type Argument, call, named, pythonString, statement } from './python/expression.ts'
import type { Imports } from './python/imports.ts'
import type { PlainTransport, Traits } from './traits.ts'

const AUDIO: readonly Argument[] = [named('audio_in_enabled', 'True'), named('audio_out_enabled', 'True')]

/** The statement of `bot.py` that makes the transport of a session. */
export function transportsOf(configuration: Configuration, traits: Traits, imports: Imports): string {
  imports.from(traits.libraryWires ? 'pipecat.runner.utils' : 'botcli', 'create_transport')
  const entries = [
    ...(traits.inRooms ? [room(configuration, traits, imports)] : []),
    ...traits.plain.map((transport) => plain(transport, configuration, traits, imports)),
    ...(configuration.evals ? [evals(traits, imports)] : []),
  ]
  return `    transport = await create_transport(
        args,
        {
${entries.join('')}        },
    )
`
}

function entry(name: string, kind: string, args: readonly Argument[]): string {
  return `${statement(12, `${pythonString(name)}: lambda: `, call(kind, args), ',')}\n`
}

function room(configuration: Configuration, traits: Traits, imports: Imports): string {
  imports.from('pipecat.transports.daily.transport', 'DailyParams')
  return entry(traits.libraryWires ? 'daily' : 'room', 'DailyParams', [
    ...AUDIO,
    ...filter(configuration, imports),
    ...video(traits, imports),
  ])
}

function plain(
  transport: PlainTransport,
  configuration: Configuration,
  traits: Traits,
  imports: Imports,
): string {
  const args = [...AUDIO, ...filter(configuration, imports)]
  if (transport === 'websocket' && traits.libraryWires) {
    imports
      .from('pipecat.serializers.protobuf', 'ProtobufFrameSerializer')
      .from('pipecat.transports.websocket.fastapi', 'FastAPIWebsocketParams')
    return entry(transport, 'FastAPIWebsocketParams', [
      ...args,
      named('serializer', 'ProtobufFrameSerializer()'),
    ])
  }
  imports.from('pipecat.transports.base_transport', 'TransportParams')
  return entry(transport, 'TransportParams', [
    ...args,
    ...(transport === 'webrtc' ? video(traits, imports) : []),
  ])
}

function evals({ videoIn }: Traits, imports: Imports): string {
  imports.from('pipecat.evals.transport', 'EvalTransportParams')
  return entry('eval', 'EvalTransportParams', [
    ...AUDIO,
    ...(videoIn ? [named('video_in_enabled', 'True')] : []),
  ])
}

function filter({ noiseFilter }: Configuration, imports: Imports): readonly Argument[] {
  if (!noiseFilter) return []
  imports.from('pipecat.audio.filters.rnnoise_filter', 'RNNoiseFilter')
  return [named('audio_in_filter', 'RNNoiseFilter()')]
}

function video({ videoIn, videoOut, looks, picture }: Traits, imports: Imports): readonly Argument[] {
  if (videoIn) imports.from('pipecat.transports.base_transport', 'VideoInSourceParams')
  return [
    ...(videoIn
      ? [
          named('video_in_enabled', 'True'),
          named(
            'video_in_sources',
            `{"camera": VideoInSourceParams(${looks ? 'on_request_only=True' : 'framerate=1'})}`,
          ),
        ]
      : []),
    ...(videoOut
      ? [
          named('video_out_enabled', 'True'),
          named('video_out_is_live', 'True'),
          named('video_out_width', String(picture.width)),
          named('video_out_height', String(picture.height)),
        ]
      : []),
  ]
}
