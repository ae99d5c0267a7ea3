/** Colours a text, or does not. */
export type Paint = (colour: number, text: string) => string

/** Colours by their numbers on terminals. */
export const COLOURS = { dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const

/** What colours text for a reader who wants that, and leaves it alone for others. */
export function paintFor(isWanted: boolean): Paint {
  return isWanted ? (colour, text) => `\u001b[${colour}m${text}\u001b[0m` : (_, text) => text
}
