import { readFile, stat } from 'node:fs/promises'

const MAX_BYTES = 1024 * 1024
/** Comments and texts of every kind, in which a definition means nothing. */
const NOT_CODE =
  /#[^\n]*|("""|''')(?:\\[\s\S]|(?!\1)[\s\S])*\1|"(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*'/g
/** A function or a name at the top level of a module. */
const DEFINITION = /^(?:(?:async\s+)?def\s+bot\s*\(|bot\s*(?::[^=\n]+)?=(?!=))/m

/** Whether a Python file defines `bot` at its top level. Its imports are not followed, and nothing is run. */
export async function definesBot(path: string): Promise<boolean> {
  const { size } = await stat(path)
  if (size > MAX_BYTES) return false
  const text = await readFile(path, 'utf8')
  return DEFINITION.test(text.replaceAll(NOT_CODE, '""'))
}
