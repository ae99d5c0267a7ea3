const HEADING = '# Added by botcli'

/** Adds the lines of an ignore file that are missing in another. What is there stays as it is, byte for byte. */
export function mergeLines(existing: Uint8Array, planned: Uint8Array): Uint8Array {
  // One character a byte, so that any encoding survives.
  const old = Buffer.from(existing).toString('latin1')
  const known = new Set(lines(old).map((line) => line.trim()))
  const rules = lines(Buffer.from(planned).toString('latin1')).filter(isRule)
  const first = rules.findIndex((rule) => !known.has(rule.trim()))
  // An exception holds only for rules above it, so it has to be said again below one that is added.
  const missing = rules.filter(
    (rule, index) =>
      rules.indexOf(rule) === index &&
      (!known.has(rule.trim()) || (rule.startsWith('!') && first >= 0 && index > first)),
  )
  if (missing.length === 0) return existing
  const end = old.includes('\r\n') ? '\r\n' : '\n'
  const start = old === '' || /\n$/.test(old) ? old : `${old}${end}`
  const gap = start === '' ? '' : end
  return Buffer.from(`${start}${gap}${[HEADING, ...missing].join(end)}${end}`, 'latin1')
}

function lines(text: string): readonly string[] {
  return text.split(/\r?\n/)
}

function isRule(line: string): boolean {
  return line.trim() !== '' && !line.startsWith('#')
}
