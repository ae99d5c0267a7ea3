// What a step of synthesis may weigh: about 3 seconds of sound, so that no step blocks for long.
const MAX_WEIGHT = 42

/**
 * Writes text so that an English voice can say it: accents are dropped, and signs it has no word for.
 * Empty when nothing can be said.
 */
export function speakable(text: string): string {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .replace(/[‘’]/g, "'")
    .replace(/\s*[–—]\s*/g, ', ')
    .replace(/[^\w .,;:!?'"%$&+-]|_/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  return /[a-z0-9]/i.test(plain) ? plain : ''
}

/** Cuts text into pieces that are quick to synthesise: at sentence ends, then commas, then words. */
export function clauses(text: string): string[] {
  const sentences = speakable(text).split(/(?<=[.!?])\s+/)
  return sentences
    .flatMap((sentence) => joined(sentence.split(/(?<=[,;:])\s+/).flatMap((part) => joined(words(part)))))
    .filter((clause) => /[a-z0-9]/i.test(clause))
}

function words(text: string): string[] {
  return text
    .split(' ')
    .flatMap((word) => (weight(word) >= MAX_WEIGHT ? (word.match(/.{1,6}/g) ?? []) : [word]))
}

/** Puts neighbours together again as long as they stay light enough. */
function joined(parts: readonly string[]): string[] {
  const result: string[] = []
  for (const part of parts) {
    const last = result.at(-1)
    if (last !== undefined && weight(last) + weight(part) < MAX_WEIGHT)
      result[result.length - 1] = `${last} ${part}`
    else result.push(part)
  }
  return result
}

/** How long a text takes to say, in letters. Digits, signs and abbreviations are whole words; commas pause. */
function weight(text: string): number {
  const digits = text.match(/[0-9]/g)?.length ?? 0
  const signs = text.match(/[%$&+]/g)?.length ?? 0
  const spelled = text.match(/[A-Z](?=[A-Z])/g)?.length ?? 0
  const pauses = text.match(/[,;:] /g)?.length ?? 0
  return text.length + 5 * digits + 6 * signs + 3 * spelled + 3 * pauses
}
