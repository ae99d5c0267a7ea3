import { AGENT_LIMITS, AGENT_PROFILE_NAMES, agentName, secretSetName } from '@botcli/protocol/cloud'
import * as z from 'zod'
import { extraPattern } from '../build/context/extra-pattern.ts'
import { PatternError } from '../build/context/ignore-pattern.ts'

const MOST_PATTERNS = 1000
const FILTERS = ['tel', 'pro', 'none'] as const

const text = z.string({ error: 'must be a string between quotes' }).refine((value) => value.trim() !== '', {
  error: 'must not be empty',
})

const pattern = text.superRefine((value, context) => {
  try {
    extraPattern(value)
  } catch (error) {
    if (!(error instanceof PatternError)) throw error
    context.addIssue({ code: 'custom', message: `is no pattern, as ${error.message}` })
  }
})

/** A text that the API checks by this schema, with what is allowed in words. */
function named(schema: z.ZodType<string>, allowed: string) {
  return text.refine((value) => value.trim() === '' || schema.safeParse(value).success, {
    error: `must be ${allowed}`,
  })
}

function whole({ min, max }: { readonly min: number; readonly max: number }) {
  return z
    .int({ error: `must be a whole number from ${min} to ${max}` })
    .refine((value) => value >= min && value <= max, {
      error: `must be a whole number from ${min} to ${max}`,
    })
}

function oneOf<const T extends readonly string[]>(words: T) {
  return z.enum(words, { error: `must be one of ${words.map((word) => `"${word}"`).join(', ')}` })
}

function section<T extends z.ZodRawShape>(name: string, shape: T) {
  return z.strictObject(shape, { error: `must be a section: [${name}]` }).optional()
}

const setName = named(
  secretSetName,
  '3 to 63 lower case letters, digits, hyphens and dots, with a letter or digit at both ends',
)

/** What may stand in a deployment file. */
export const deployFile = z
  .strictObject({
    agent_name: named(
      agentName,
      '2 to 54 lower case letters, digits and hyphens, with a letter or digit at both ends',
    ).optional(),
    image: text.optional(),
    build_id: named(z.guid(), 'the id of a build, which "botcli build list" shows').optional(),
    image_credentials: setName.optional(),
    secret_set: setName.optional(),
    region: text.optional(),
    agent_profile: oneOf(AGENT_PROFILE_NAMES).optional(),
    max_session_duration: whole(AGENT_LIMITS.maxSessionDuration).optional(),
    sessions_per_instance: whole(AGENT_LIMITS.sessionsPerInstance).optional(),
    build: section('build', {
      context_dir: text.optional(),
      dockerfile: text.optional(),
      exclude: section('build.exclude', {
        patterns: z
          .array(pattern, { error: 'must be a list of strings, such as ["docs", "*.wav"]' })
          .max(MOST_PATTERNS, { error: `must have at most ${MOST_PATTERNS} patterns` })
          .optional(),
      }),
    }),
    scaling: section('scaling', {
      min_agents: whole(AGENT_LIMITS.agents).optional(),
      max_agents: whole({ min: 1, max: AGENT_LIMITS.agents.max }).optional(),
    }),
    noise_filter: section('noise_filter', { audio_filter: oneOf(FILTERS).optional() }),
  })
  .superRefine(({ image, build_id, scaling }, context) => {
    const told = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message })
    if (image !== undefined && build_id !== undefined) {
      told(['build_id'], 'and image cannot both be there: one of them says what runs')
    }
    const { min_agents: min, max_agents: max } = scaling ?? {}
    if (min !== undefined && max !== undefined && min > max) {
      told(['scaling', 'min_agents'], `must not be more than max_agents, which is ${max}`)
    }
  })
