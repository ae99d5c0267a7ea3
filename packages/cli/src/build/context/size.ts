const UNITS = ['KB', 'MB', 'GB', 'TB']

/** A number of bytes for people. */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  let value = bytes
  let unit = ''
  for (const next of UNITS) {
    if (value < 999.5) break
    value /= 1024
    unit = next
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`
}
