/** Rows below a head, in columns. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const all = [head, ...rows]
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  return all.map((row) =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
      .join('  '),
  )
}

/** A time for people, in UTC. */
export function shownTime(iso: string | null): string {
  return iso === null ? '-' : iso.replace('T', ' ').replace(/(?:\.\d+)?Z$/, ' UTC')
}

/** A number of seconds for people. */
export function shownSeconds(seconds: number | null): string {
  if (seconds === null) return '-'
  if (seconds < 60) return `${Math.round(seconds * 10) / 10} s`
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`
}
