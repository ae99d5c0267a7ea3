import { stripVTControlCharacters } from 'node:util'

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
  const widths = columns.map((_, index) => Math.max(...all.map((row) => shownLength(row[index] ?? ''))))
  return all.map((row) =>
    row.map((cell, index) => (index === row.length - 1 ? cell : padded(cell, widths[index] ?? 0))).join('  '),
  )
}

/** A cell may have colours, which take no room. */
function padded(cell: string, width: number): string {
  return cell + ' '.repeat(Math.max(0, width - shownLength(cell)))
}

function shownLength(cell: string): number {
  return stripVTControlCharacters(cell).length
}

/** Names with their values below each other; those without a value are left out. */
export function facts(rows: readonly (readonly [string, string | null | undefined])[]): readonly string[] {
  const there = rows.flatMap(([name, value]) => (value ? [[name, value] as const] : []))
  const width = Math.max(0, ...there.map(([name]) => name.length))
  return there.map(([name, value]) => `${name.padEnd(width)}  ${value}`)
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
