import type { Configuration } from '../configuration.ts'
import type { Traits } from './traits.ts'

/** A section for each feature that a project has. */
export function featureSections(configuration: Configuration, traits: Traits): readonly string[] {
  const { videoIn, videoOut } = traits
  const sections: string[] = []
  if (configuration.recording) {
    sections.push(`## Recordings

Each call becomes a WAV file in \`server/recordings/\`: the caller on the left, the bot on the right. It is written while the call goes
on. In a container the folder goes with the container; mount a volume at \`/app/recordings\` to keep it.`)
  }
  if (configuration.transcription) {
    sections.push(
      '## Transcript\n\nWhat the caller and the bot say is in the log of the runner, a line for each turn.',
    )
  }
  if (configuration.noiseFilter) {
    sections.push(`## Noise

Noise is taken out of the caller's sound before anything hears it, by RNNoise inside of the bot, here and in the cloud. Evals are not
filtered.`)
  }
  if (configuration.observability) {
    sections.push(`## Observability

The log has the delay of each answer. With \`OTEL_EXPORTER_OTLP_ENDPOINT\` traces of the conversation, its turns and every call of a
service go to an OpenTelemetry collector; \`OTEL_EXPORTER_OTLP_HEADERS\` and the other standard variables work, too.`)
  }
  if (videoIn || videoOut) sections.push(`## Video\n\n${video(traits)}`)
  return sections
}

function video({ videoIn, videoOut, looks, libraryWires, video, picture }: Traits): string {
  const size = `${picture.width} by ${picture.height}`
  const parts = [
    !videoIn
      ? ''
      : looks
        ? 'The language model takes a picture with the camera of the caller when it wants to see something: the function `look` in `server/bot.py`. Take a model that sees pictures and calls functions.'
        : 'One picture a second comes from the camera of the caller, and the model sees it.',
    !videoOut
      ? ''
      : video === undefined
        ? `A picture of ${size} can go to the caller: push an \`OutputImageRawFrame\` into the pipeline.`
        : `The caller sees ${video.label}, ${size}.`,
    libraryWires
      ? 'Because of the video this bot speaks to its callers by the transports of `pipecat-ai`; the runner passes them through.'
      : '',
  ]
  return parts.filter((part) => part !== '').join(' ')
}
