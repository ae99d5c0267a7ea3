/** Rows below a head, in columns. Some are left out where all rows have the same in them, for the sake of narrow terminals. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  { unlessSame = [] }: { readonly unlessSame?: readonly string[] } = {},
): readonly string[] {
  const columns = [...head.keys()].filter((column) => {
    const isOptional = rows.length > 0 && unlessSame.includes(head[column] ?? '')
    return !isOptional || rows.some((row) => row[column] !== rows[0]?.[column])
  })
  const all = [head, ...rows].map((row) => columns.map((column) => row[column] ?? ''))
  const widths = columns.map((_, index) => Math.max(...all.map((row) => row[index]?.length ?? 0)))
  return all.map((row) =>
    row.map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0))).join('  '),
  )
}

/** A time for people, in UTC. */
export function shownTime(iso: string | null): string {
  return iso === null ? '-' : iso.replace('T', ' ').replace(/(?:\.\d+)?Z$/, ' UTC')
}

/** A day for people, in UTC. */
export function shownDate(iso: string): string {
  return iso.slice(0, 10)
}

/** A number of seconds for people. */
export function shownSeconds(seconds: number | null): string {
  if (seconds === null) return '-'
  if (seconds < 60) return `${Math.round(seconds * 10) / 10} s`
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`
}
