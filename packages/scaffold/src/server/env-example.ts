import type { Configuration } from '../configuration.ts'
import { type ProjectVariable, projectVariables } from './variables.ts'

/** `.env.example`: required variables blank, optional ones as comments with what holds otherwise. */
export function envExample(configuration: Configuration): string {
  const variables = projectVariables(configuration)
  const head = [
    `# Settings of ${oneLine(configuration.names.title)}. Copy this file to .env and fill it in; .env is not for git.`,
    variables.some(({ required }) => required)
      ? '# Variables without a # must be set. An empty one counts as not set.'
      : '# Nothing has to be set. An empty variable counts as not set.',
    '',
  ]
  const groups = [...new Set(variables.map(({ group }) => group))]
  const blocks = groups.map((group) =>
    [
      `# --- ${group} ---`,
      ...variables.filter((variable) => variable.group === group).flatMap(lines),
      '',
    ].join('\n'),
  )
  return `${[...head, ...blocks].join('\n').trimEnd()}\n`
}

function lines({ name, required, fallback, hint }: ProjectVariable): readonly string[] {
  return [`# ${hint}`, required ? `${name}=` : `# ${name}=${fallback ?? ''}`]
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ')
}
