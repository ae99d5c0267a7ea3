import type { Configuration } from '../configuration.ts'

/** A web bot with a client, for tests that are about the client. */
export function clientConfiguration(
  parts: Partial<Configuration> & { readonly title?: string } = {},
): Configuration {
  const { title = 'My bot', ...rest } = parts
  return {
    names: { title, python: 'my-bot', npm: 'my-bot', agent: 'my-bot' },
    botType: 'web',
    transports: ['webrtc'],
    mode: 'cascade',
    stt: 'deepgram_stt',
    llm: 'openai_llm',
    tts: 'cartesia_tts',
    clientFramework: 'react',
    clientServer: 'vite',
    recording: false,
    transcription: false,
    videoInput: false,
    videoOutput: false,
    deployToCloud: false,
    noiseFilter: false,
    observability: false,
    evals: false,
    ...rest,
  }
}
