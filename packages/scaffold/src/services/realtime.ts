import { INSTRUCTION, literal, object, optional, required, type ServiceFacts } from './service.ts'

/** Services that hear, think and speak in one. */
export const REALTIME_SERVICES: readonly ServiceFacts[] = [
  {
    id: 'aws_nova_realtime',
    label: 'AWS Nova Sonic',
    className: 'AWSNovaSonicLLMService',
    module: 'aws.nova_sonic.llm',
    extras: ['aws-nova-sonic'],
    parameters: {
      secret_access_key: required('AWS_SECRET_ACCESS_KEY'),
      access_key_id: required('AWS_ACCESS_KEY_ID'),
      region: required('AWS_REGION'),
      session_token: optional('AWS_SESSION_TOKEN'),
    },
    settings: { voice: optional('AWS_VOICE_ID', 'matthew'), system_instruction: INSTRUCTION },
    python: '3.12',
  },
  {
    id: 'azure_realtime',
    label: 'Azure Realtime',
    className: 'AzureRealtimeLLMService',
    module: 'azure.realtime.llm',
    extras: ['azure'],
    parameters: {
      api_key: required('AZURE_REALTIME_API_KEY'),
      base_url: required('AZURE_REALTIME_BASE_URL'),
    },
    settings: {
      session_properties: object('SessionProperties', 'openai.realtime.events', {
        audio: object('AudioConfiguration', 'openai.realtime.events', {
          input: object('AudioInput', 'openai.realtime.events', {
            transcription: object('InputAudioTranscription', 'openai.realtime.events', {
              model: literal('"whisper-1"'),
            }),
          }),
        }),
      }),
      system_instruction: INSTRUCTION,
    },
    sees: true,
  },
  {
    id: 'azure_voice_live_realtime',
    label: 'Azure Voice Live',
    className: 'AzureVoiceLiveLLMService',
    module: 'azure.voice_live.llm',
    extras: ['azure'],
    parameters: {
      api_key: required('AZURE_VOICE_LIVE_API_KEY'),
      endpoint: required('AZURE_VOICE_LIVE_ENDPOINT'),
    },
    settings: {
      model: literal('"gpt-4o-mini"'),
      session_properties: object('SessionProperties', 'azure.voice_live.events', {
        voice: object('AzureStandardVoice', 'azure.voice_live.events', {
          name: literal('"en-US-Ava:DragonHDLatestNeural"'),
        }),
        turn_detection: object('TurnDetection', 'azure.voice_live.events', {
          type: literal('"azure_semantic_vad"'),
        }),
        input_audio_transcription: object('InputAudioTranscription', 'azure.voice_live.events', {
          model: literal('"azure-speech"'),
        }),
      }),
      system_instruction: INSTRUCTION,
    },
  },
  {
    id: 'gemini_live_realtime',
    label: 'Gemini Live',
    className: 'GeminiLiveLLMService',
    module: 'google.gemini_live.llm',
    extras: ['google'],
    parameters: { api_key: required('GOOGLE_API_KEY') },
    settings: {
      model: optional('GOOGLE_MODEL', 'models/gemini-3.8-live'),
      voice: optional('GOOGLE_VOICE_ID', 'Charon'),
      system_instruction: INSTRUCTION,
    },
    sees: true,
  },
  {
    id: 'gemini_vertex_live_realtime',
    label: 'Gemini Vertex Live',
    className: 'GeminiLiveVertexLLMService',
    module: 'google.gemini_live.vertex.llm',
    extras: ['google'],
    parameters: {
      credentials_path: required('GOOGLE_APPLICATION_CREDENTIALS'),
      project_id: required('GOOGLE_PROJECT_ID'),
      location: required('GOOGLE_LOCATION'),
    },
    settings: {
      model: optional('GOOGLE_MODEL', 'google/gemini-3.8-live'),
      voice: optional('GOOGLE_VOICE_ID', 'Charon'),
      system_instruction: INSTRUCTION,
    },
    sees: true,
  },
  {
    id: 'xai_realtime',
    label: 'Grok Realtime',
    className: 'GrokRealtimeLLMService',
    module: 'xai.realtime.llm',
    extras: ['xai'],
    parameters: { api_key: required('XAI_API_KEY') },
    settings: {
      session_properties: object('SessionProperties', 'xai.realtime.events', {
        voice: optional('XAI_VOICE_ID', 'eve'),
      }),
      system_instruction: INSTRUCTION,
    },
  },
  {
    id: 'openai_realtime',
    label: 'OpenAI Realtime',
    className: 'OpenAIRealtimeLLMService',
    module: 'openai.realtime.llm',
    extras: ['openai'],
    parameters: { api_key: required('OPENAI_API_KEY') },
    settings: {
      session_properties: object('SessionProperties', 'openai.realtime.events', {
        audio: object('AudioConfiguration', 'openai.realtime.events', {
          input: object('AudioInput', 'openai.realtime.events', {
            transcription: object('InputAudioTranscription', 'openai.realtime.events'),
            turn_detection: object('SemanticTurnDetection', 'openai.realtime.events'),
            noise_reduction: object('InputAudioNoiseReduction', 'openai.realtime.events', {
              type: literal('"near_field"'),
            }),
          }),
        }),
      }),
      system_instruction: INSTRUCTION,
    },
    sees: true,
  },
  {
    id: 'ultravox_realtime',
    label: 'Ultravox',
    className: 'UltravoxRealtimeLLMService',
    module: 'ultravox.llm',
    extras: ['ultravox'],
    parameters: {
      params: object('OneShotInputParams', 'ultravox.llm', {
        api_key: required('ULTRAVOX_API_KEY'),
        system_prompt: INSTRUCTION,
        temperature: literal('0.3'),
      }),
    },
  },
]
