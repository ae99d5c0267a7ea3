import { MAX_CONTEXT_DEPTH, MAX_CONTEXT_PATH } from '@botcli/protocol/cloud'

const SHOWN_CHARACTERS = 200

/** What is wrong with the path of a file, which a cloud would refuse for that. */
export function pathProblem(path: string): string | undefined {
  return hasControl(path) ? 'has control characters' : lengthProblem(path)
}

/** Whether a path could steer a terminal. */
export function hasControl(path: string): boolean {
  return /\p{Cc}/u.test(path)
}

/** What is wrong with how long a path is. */
export function lengthProblem(path: string): string | undefined {
  if (path.length > MAX_CONTEXT_PATH)
    return `has ${path.length} characters, and ${MAX_CONTEXT_PATH} is the most`
  const depth = path.split('/').length
  return depth > MAX_CONTEXT_DEPTH ? `has ${depth} parts, and ${MAX_CONTEXT_DEPTH} is the most` : undefined
}

/** A path in a list of what is wrong. */
export function shownPath(path: string): string {
  return JSON.stringify(path.length > SHOWN_CHARACTERS ? `${path.slice(0, SHOWN_CHARACTERS)}…` : path)
}
