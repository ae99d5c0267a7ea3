import { posix } from 'node:path'
import { IgnorePattern, PatternError } from './ignore-pattern.ts'

/**
 * A rule that leaves out more than the ignore file does. As in `.gitignore`, a name alone is meant wherever it is; with a slash before
 * its end, it is a path from the context on. Throws {@link PatternError}.
 */
export function extraPattern(text: string): IgnorePattern {
  const path = text.trim()
  if (path.startsWith('!')) {
    // Who builds goes by the ignore file again, and would drop what is taken back.
    throw new PatternError('it only leaves out; what is to be taken back ("!") stands in .dockerignore')
  }
  const way = posix.normalize(`./${path}`).replace(/\/$/, '')
  // A dot in front keeps "#" from being a comment.
  const isPath = path.replace(/\/+$/, '').includes('/')
  const pattern = IgnorePattern.parse(isPath ? `./${way}` : `**/${way}`)
  if (pattern === undefined || way === '.' || way === '..' || way.startsWith('../')) {
    throw new PatternError('it names nothing inside of the context')
  }
  return pattern
}
