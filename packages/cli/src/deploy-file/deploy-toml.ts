import { nearest } from '@botcli/scaffold/nearest'
import { parse, TomlError } from 'smol-toml'
import type * as z from 'zod'
import { UsageError } from '../usage-error.ts'
import type { DeployFile } from './deploy-file.ts'
import { deployFile } from './schema.ts'
import { keysOf, lineOf } from './toml-place.ts'

/** Reads a deployment file. Everything that is wrong is told at once, with its line. */
export function parseDeployFile(source: string, name: string): DeployFile {
  const toml = source.replace(/^\uFEFF/, '')
  const read = deployFile.safeParse(readToml(toml, name))
  if (!read.success) throw new UsageError(read.error.issues.flatMap((issue) => problemsOf(issue, toml, name)))
  const { region, build, scaling, noise_filter: noise, ...agent } = read.data
  const filter = noise?.audio_filter
  return {
    agent: {
      agentName: agent.agent_name,
      image: agent.image,
      buildId: agent.build_id,
      imageCredentials: agent.image_credentials,
      secretSet: agent.secret_set,
      agentProfile: agent.agent_profile,
      maxSessionDuration: agent.max_session_duration,
      sessionsPerInstance: agent.sessions_per_instance,
      minAgents: scaling?.min_agents,
      maxAgents: scaling?.max_agents,
      audioFilter: filter === 'none' ? null : filter,
    },
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

function problemsOf(issue: z.core.$ZodIssue, toml: string, name: string): readonly string[] {
  const at = (path: readonly PropertyKey[]) => `${name}, line ${lineOf(path, toml)}: ${spelled(path)}`
  if (issue.code !== 'unrecognized_keys') return [`${at(issue.path)} ${issue.message}.`]
  const known = keysOf(deployFile, issue.path)
  const place = issue.path.length === 0 ? 'at the top' : `in [${issue.path.map(String).join('.')}]`
  return issue.keys.map((key) => {
    const near = nearest(key, known)
    const hint = near === undefined ? '' : ` Did you mean ${near}?`
    return `${at([...issue.path, key])} is unknown.${hint} Allowed ${place}: ${known.join(', ')}.`
  })
}

function spelled(path: readonly PropertyKey[]): string {
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
    .slice(1)
}
