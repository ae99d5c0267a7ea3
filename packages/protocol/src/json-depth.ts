/** Far more than anybody needs, and far less than what a stack can hold when JSON is spelled again. */
export const MAX_JSON_DEPTH = 100

/** Whether JSON is flat enough to be handed on. Parsing has no such limit, spelling has. */
export function isShallow(value: unknown, levels = MAX_JSON_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (levels === 0) return false
  return Object.values(value).every((inner) => isShallow(inner, levels - 1))
}

/** What is said of JSON that is not. */
export const TOO_DEEP = `is nested deeper than ${MAX_JSON_DEPTH} levels`
