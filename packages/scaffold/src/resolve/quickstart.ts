import type { Configuration } from '../configuration.ts'
import type { FlagValues } from '../options/option.ts'
import { SCAFFOLD_OPTIONS } from '../options/table.ts'
import type { Problem } from './problem.ts'

/** The word that stands for the bot that is ready made. */
export const QUICKSTART = 'quickstart'

/** Where it goes, and what it is called. */
export const QUICKSTART_DIRECTORY = 'bot-quickstart'

/** A bot that needs three keys, and a browser to talk to. */
export const QUICKSTART_CONFIGURATION: Configuration = {
  names: {
    title: QUICKSTART_DIRECTORY,
    python: QUICKSTART_DIRECTORY,
    npm: QUICKSTART_DIRECTORY,
    agent: QUICKSTART_DIRECTORY,
  },
  botType: 'web',
  transports: ['webrtc', 'room'],
  mode: 'cascade',
  stt: 'deepgram_stt',
  llm: 'openai_responses_llm',
  tts: 'cartesia_tts',
  clientFramework: 'none',
  recording: false,
  transcription: false,
  videoInput: false,
  videoOutput: false,
  deployToCloud: true,
  noiseFilter: false,
  observability: false,
  evals: false,
}

/** Options that the quickstart cannot heed. */
export function quickstartProblems(flags: FlagValues, configPath: string | undefined): readonly Problem[] {
  const typed = SCAFFOLD_OPTIONS.filter(({ key }) => flags[key] !== undefined).map(
    ({ key, field, flag }): Problem => ({
      field,
      flag: `--${flag}`,
      code: 'no_effect',
      value: flags[key],
      message: `--${flags[key] === false ? 'no-' : ''}${flag} has no effect on the quickstart, which is always the same. Give a directory instead of "${QUICKSTART}".`,
    }),
  )
  if (configPath === undefined) return typed
  return [
    ...typed,
    {
      field: 'config',
      flag: '--config',
      code: 'no_effect',
      value: configPath,
      message: `--config has no effect on the quickstart, which is always the same. Give a directory instead of "${QUICKSTART}".`,
    },
  ]
}
