import type { ProjectNames } from './configuration.ts'
import { TAKEN_NAMES } from './taken-names.ts'

/** What the cloud takes. */
const AGENT_NAME = /^[a-z0-9][-a-z0-9]*[a-z0-9]$/
const MAX_AGENT_LENGTH = 54
const MAX_TITLE_LENGTH = 100

/** Characters that end a string, a comment or a tag in one of the languages that we write. */
const UNSAFE_IN_TEXT = /["`\\<>{}$]/g

/** Makes the names of a project from what was given, or nothing if no letter or digit of it can be used. */
export function makeNames(given: string): ProjectNames | undefined {
  const title = makeTitle(given)
  const slug = makeSlug(title)
  if (slug === undefined) return undefined
  return { title, python: slug, npm: slug, agent: slug }
}

/** How the names differ from what was given, in a sentence; nothing if they do not. */
export function describeNames(given: string, names: ProjectNames): string | undefined {
  const parts = [
    ...(names.title === given ? [] : [`The project is called "${names.title}".`]),
    ...(names.agent === given ? [] : [`For Python, npm and the cloud its name is ${names.agent}.`]),
  ]
  return parts.length === 0 ? undefined : parts.join(' ')
}

function makeTitle(given: string): string {
  const clean = given
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ')
    .replaceAll(UNSAFE_IN_TEXT, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return [...clean].slice(0, MAX_TITLE_LENGTH).join('').trim()
}

function makeSlug(title: string): string | undefined {
  const words = title
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/['’]/g, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
  const slug = trimHyphens(trimHyphens(words).slice(0, MAX_AGENT_LENGTH))
  if (slug === '') return undefined
  if (!AGENT_NAME.test(slug) || TAKEN_NAMES.has(slug)) return `${slug}-bot`
  return slug
}

function trimHyphens(text: string): string {
  return text.replace(/^-+/, '').replace(/-+$/, '')
}
