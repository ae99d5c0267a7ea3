/** Lines that say which they are. */
export function numbered(count: number, from = 0): string[] {
  return Array.from({ length: count }, (_, index) => `line ${from + index}`)
}
