/** A sine. */
export function tone(rate: number, ms: number, hertz = 440, amplitude = 8000): Int16Array {
  const length = (rate * ms) / 1000
  return Int16Array.from({ length }, (_, at) => amplitude * Math.sin((2 * Math.PI * hertz * at) / rate))
}

/** Pieces of sound, one after the other. */
export function joined(pieces: readonly Int16Array[]): Int16Array {
  return Int16Array.from(pieces.flatMap((piece) => [...piece]))
}
