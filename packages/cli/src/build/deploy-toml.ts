import { parse, TomlError } from 'smol-toml'
import * as z from 'zod'
import { UsageError } from '../usage-error.ts'
import { extraPattern } from './context/extra-pattern.ts'
import { PatternError } from './context/ignore-pattern.ts'
import type { DeployFile } from './deploy-file.ts'

const MOST_PATTERNS = 1000

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

/** What builds need. Inside of [build] nothing else may stand; the rest of the file is for who runs the bot. */
const deployFile = z.looseObject({
  region: text.optional(),
  build: z
    .strictObject(
      {
        context_dir: text.optional(),
        dockerfile: text.optional(),
        exclude: z
          .strictObject(
            {
              patterns: z
                .array(pattern, { error: 'must be a list of strings, such as ["docs", "*.wav"]' })
                .max(MOST_PATTERNS, { error: `must have at most ${MOST_PATTERNS} patterns` })
                .optional(),
            },
            { error: sectionError('build.exclude', ['patterns']) },
          )
          .optional(),
      },
      { error: sectionError('build', ['context_dir', 'dockerfile', 'exclude']) },
    )
    .optional(),
})

/** Reads what builds need of a deployment file. Everything that is wrong is told at once, with its line. */
export function parseDeployFile(source: string, name: string): DeployFile {
  const toml = source.replace(/^\uFEFF/, '')
  const read = deployFile.safeParse(readToml(toml, name))
  if (!read.success) throw new UsageError(read.error.issues.flatMap((issue) => problemsOf(issue, toml, name)))
  const { region, build } = read.data
  return {
    region,
    contextDir: build?.context_dir ?? '.',
    dockerfile: build?.dockerfile,
    exclude: build?.exclude?.patterns ?? [],
  }
}

function readToml(toml: string, name: string): unknown {
  try {
    return parse(toml)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const [first = ''] = error.message.replace(/^Invalid TOML document: /, '').split('\n')
    throw new UsageError([`${name}, line ${error.line}, column ${error.column}: It is not TOML: ${first}.`])
  }
}

/** Keys that are unknown are named one by one elsewhere. */
function sectionError(section: string, keys: readonly string[]) {
  return ({ code }: { readonly code?: string }) =>
    code === 'unrecognized_keys'
      ? `is unknown; allowed in [${section}]: ${keys.join(', ')}`
      : `must be a section: [${section}]`
}

function problemsOf(issue: z.core.$ZodIssue, toml: string, name: string): readonly string[] {
  const paths =
    issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : [issue.path]
  return paths.map((path) => {
    const shown = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('')
    return `${name}, line ${lineOf(path, toml)}: ${shown.slice(1)} ${issue.message}.`
  })
}

/** The line on which a key is first said. Values have no places after parsing, so that the file is read again line by line. */
function lineOf(path: readonly PropertyKey[], toml: string): number {
  const keys = path.filter((step) => typeof step !== 'number')
  const lines = toml.split('\n')
  let start = 1
  for (let count = 1; count <= lines.length; count += 1) {
    let value: unknown
    try {
      value = parse(lines.slice(0, count).join('\n'))
    } catch {
      // Something goes over several lines.
      continue
    }
    for (const key of keys) {
      value = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
    }
    if (value !== undefined) return start
    start = count + 1
  }
  return start
}
