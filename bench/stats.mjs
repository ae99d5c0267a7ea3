/**
 * The value below which a share of the sorted numbers lies (nearest rank).
 * @param {readonly number[]} numbers
 * @param {number} share from 0 to 1
 */
export function quantile(numbers, share) {
  if (numbers.length === 0) return Number.NaN
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]
}

/** @param {readonly number[]} numbers */
export function spread(numbers) {
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => quantile(numbers, share))
  return { p50, p95, p99, count: numbers.length }
}
