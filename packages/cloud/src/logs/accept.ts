interface Range {
  readonly type: string
  readonly quality: number
}

/**
 * Which of some media types a client wants, by its `Accept` header: the one of the highest quality, and of equals the first. Without a
 * header, or when none is acceptable, it is the first.
 */
export function preferredType<T extends string>(accept: string | undefined, offers: readonly [T, ...T[]]): T {
  let [best] = offers
  if (accept === undefined || accept === '*/*' || accept === best) return best
  const ranges = accept.split(',').flatMap(parseRange)
  let bestQuality = 0
  for (const offer of offers) {
    const quality = qualityOf(offer, ranges)
    if (quality > bestQuality) {
      best = offer
      bestQuality = quality
    }
  }
  return best
}

/** The quality of a type is that of the most exact range that it falls into. */
function qualityOf(offer: string, ranges: readonly Range[]): number {
  const family = `${offer.slice(0, offer.indexOf('/'))}/*`
  for (const type of [offer, family, '*/*']) {
    const found = ranges.filter((range) => range.type === type)
    if (found.length > 0) return Math.max(...found.map(({ quality }) => quality))
  }
  return 0
}

function parseRange(text: string): readonly Range[] {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  if (!/^[^\s/]+\/[^\s/]+$/.test(type)) return []
  const weight = parameters.find((parameter) => /^q\s*=/.test(parameter))
  if (weight === undefined) return [{ type, quality: 1 }]
  const quality = /^q\s*=\s*([01](?:\.\d{0,3})?)$/.exec(weight)?.[1]
  return quality === undefined ? [] : [{ type, quality: Math.min(1, Number(quality)) }]
}
