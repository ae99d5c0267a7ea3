import type { Feature } from './features.ts'

/** A line of its own, in any of the languages' comments: `// #if webrtc`, `<!-- #end -->`. */
const DIRECTIVE = /^\s*(?:\/\/|\/\*|<!--|\{\/\*)\s*#(?:if (\w+)|end)\s*(?:\*\/\}?|-->)?\s*$/

/** Leaves out the blocks whose feature is missing. A template with all of them is a working client. */
export function withFeatures(text: string, features: ReadonlySet<Feature>): string {
  const open: boolean[] = []
  const kept = text.split('\n').filter((line) => {
    const directive = DIRECTIVE.exec(line)
    if (directive === null) return !open.includes(false)
    const [, feature] = directive
    if (feature === undefined) open.pop()
    else open.push(features.has(feature as Feature))
    return false
  })
  // Blank lines around a block that is gone would meet.
  return kept.join('\n').replace(/\n{3,}/g, '\n\n')
}

/** Puts the project's name where it belongs, spelled for the language of the file. */
export function withTitle(text: string, path: string, title: string): string {
  const spell = path.endsWith('.ts') ? forScript : forMarkup
  const [initial = '?'] = title.trim().toUpperCase()
  return text.replace(/\{\{(title|initial)\}\}/g, (_, name) => spell(name === 'title' ? title : initial))
}

/** For a string in single quotes. */
function forScript(text: string): string {
  return JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")
}

function forMarkup(text: string): string {
  const names: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
  return text.replace(/[&<>"]/g, (character) => names[character] ?? character)
}
