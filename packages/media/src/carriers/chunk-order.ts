/** A piece of the caller's sound that came with its number. */
export interface NumberedChunk {
  readonly chunk: number
  readonly bytes: Uint8Array
  readonly arrivedAt: number
}

/** Pieces that may wait for an earlier one, and how long. */
const MAX_HELD = 3
const MAX_WAIT_MS = 60
/** So many in a row that seem to be repeated are not. */
const MAX_LEFT_OUT = 5
/** A jump beyond this is a new count rather than a loss or a repetition. */
const MAX_JUMP = 50

/** Puts pieces in order and leaves out repeated ones. It holds back nothing while nothing is missing. */
export class ChunkOrder {
  #next: number | undefined
  #held: NumberedChunk[] = []
  #leftOut = 0

  /** Takes a piece and gives the ones whose turn has come. */
  push(piece: NumberedChunk): NumberedChunk[] {
    const ahead = this.#next === undefined ? 0 : piece.chunk - this.#next
    if (this.#next === undefined || Math.abs(ahead) > MAX_JUMP) {
      const before = this.#held
      this.#held = []
      this.#next = piece.chunk + 1
      return [...before, piece]
    }
    if (ahead < 0 || this.#held.some(({ chunk }) => chunk === piece.chunk)) {
      this.#leftOut += 1
      if (this.#leftOut < MAX_LEFT_OUT) return []
      // Numbers that never go on are no numbers.
      this.#next = undefined
      return [piece]
    }
    this.#leftOut = 0
    this.#held.push(piece)
    this.#held.sort((a, b) => a.chunk - b.chunk)
    return [...this.#inOrder(), ...this.expire(piece.arrivedAt)]
  }

  /** Gives up on what is missing when others have waited for it long enough. */
  expire(now: number): NumberedChunk[] {
    const ordered: NumberedChunk[] = []
    while (
      this.#held.length >= MAX_HELD ||
      this.#held.some(({ arrivedAt }) => now - arrivedAt >= MAX_WAIT_MS)
    ) {
      this.#next = this.#held[0]?.chunk
      ordered.push(...this.#inOrder())
    }
    return ordered
  }

  #inOrder(): NumberedChunk[] {
    const ordered: NumberedChunk[] = []
    for (
      let first = this.#held[0];
      first !== undefined && first.chunk === this.#next;
      first = this.#held[0]
    ) {
      this.#held.shift()
      this.#next = first.chunk + 1
      ordered.push(first)
    }
    return ordered
  }
}
