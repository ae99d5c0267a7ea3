/** A JSON object of which nothing is known yet. */
export type Shape = Readonly<Record<string, unknown>>

/** The value as an object, or an empty one: what came over the wire may be anything. */
export function shapeOf(value: unknown): Shape {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Shape) : {}
}

/** The text under a key, or `undefined` when there is none. */
export function textAt(shape: Shape, key: string): string | undefined {
  const value = shape[key]
  return typeof value === 'string' && value !== '' ? value : undefined
}
