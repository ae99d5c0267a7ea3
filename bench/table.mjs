/**
 * One line of the table. `bare` is the limit: the library or the socket alone.
 * @typedef {object} Row
 * @property {string} name
 * @property {string} unit
 * @property {number} ours
 * @property {number} [bare]
 * @property {number} [peer]
 * @property {boolean} [moreIsBetter]
 * @property {boolean} [noRatio]
 * @property {boolean} [peerOverloaded] the peer lost sound, so its number is too low
 * @property {{ peerShare?: number, bareShare?: number, atMost?: number, atLeast?: number }} [target] a share of the peer or of
 * the limit, or without it a number
 */

const HEAD = ['benchmark', 'unit', 'ours', 'bare', 'peer', 'ours/bare', 'ours/peer', 'target', 'met']

/**
 * The rows as a table that is also Markdown.
 * @param {readonly Row[]} rows
 */
export function formatTable(rows) {
  const lines = [HEAD, ...rows.map(cells)]
  const widths = HEAD.map((_, column) => Math.max(...lines.map((line) => line[column].length)))
  const isText = (column) => column < 2 || column > 6
  const format = (line) => {
    const padded = line.map((cell, column) =>
      isText(column) ? cell.padEnd(widths[column]) : cell.padStart(widths[column]),
    )
    return `| ${padded.join(' | ')} |`
  }
  const rule = widths.map((width, column) =>
    isText(column) ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  )
  return [format(HEAD), format(rule), ...lines.slice(1).map(format)].join('\n')
}

/** @param {Row} row */
function cells(row) {
  const { name, unit, ours, bare, peer, noRatio, peerOverloaded } = row
  // Memory may shrink under a small load, and then there is nothing to divide by.
  const ratio = (other) => (noRatio || !(other > 0.1) ? '' : `${(ours / other).toFixed(2)}×`)
  const theirs = number(peer) + (peerOverloaded ? '*' : '')
  const toPeer = peerOverloaded ? '' : ratio(peer)
  return [name, unit, number(ours), number(bare), theirs, ratio(bare), toPeer, ...verdict(row)]
}

/** @param {Row} row */
function verdict({ ours, bare, peer, peerOverloaded, target = {} }) {
  const { peerShare, bareShare, atMost, atLeast } = target
  const answer = (met) => (met ? 'yes' : 'NO')
  if (peerShare !== undefined && peer !== undefined && !peerOverloaded) {
    return [`at most ${peerShare}× peer`, answer(ours <= peerShare * peer)]
  }
  if (bareShare !== undefined && bare !== undefined) {
    return [`at most ${bareShare}× bare`, answer(ours <= bareShare * bare)]
  }
  if (atMost !== undefined) return [`at most ${atMost}`, answer(ours <= atMost)]
  if (atLeast !== undefined) return [`at least ${atLeast}`, answer(ours >= atLeast)]
  return ['', '']
}

/** @param {number | undefined} value */
function number(value) {
  if (value === undefined) return ''
  if (Number.isNaN(value)) return '-'
  if (Math.abs(value) >= 1000) return value.toFixed(0)
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2)
}
