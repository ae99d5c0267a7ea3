/** The word that was probably meant, if one is near enough. Case does not count. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  const wanted = word.slice(0, 64).toLowerCase()
  const limit = Math.max(1, Math.floor(wanted.length / 3))
  return [...known]
    .map((candidate) => ({ candidate, steps: editSteps(wanted, candidate.slice(0, 64).toLowerCase()) }))
    .filter(({ steps }) => steps <= limit)
    .sort((a, b) => a.steps - b.steps)[0]?.candidate
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one word into the other. */
function editSteps(a: string, b: string): number {
  let older: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const changed = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const added = (row[j - 1] ?? 0) + 1
      const removed = (previous[j] ?? 0) + 1
      const swappable = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = swappable ? (older[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY
      row.push(Math.min(changed, added, removed, swapped))
    }
    older = previous
    previous = row
  }
  return previous[b.length] ?? 0
}
