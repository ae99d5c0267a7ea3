import type { Row } from './database.ts'

/** Reads a column that always has text. */
export function text(row: Row, name: string): string {
  const value = row[name]
  if (typeof value === 'string') return value
  throw new TypeError(`column ${name} holds ${typeof value}, not text`)
}

/** Reads a column that always has a number. */
export function number(row: Row, name: string): number {
  const value = row[name]
  if (typeof value === 'number') return value
  throw new TypeError(`column ${name} holds ${typeof value}, not a number`)
}

/** Reads a column of bytes. */
export function bytes(row: Row, name: string): Uint8Array {
  const value = row[name]
  // The driver gives a Buffer for one row and an ArrayBuffer for many.
  if (value instanceof Uint8Array) return value
  if (value instanceof ArrayBuffer) return new Uint8Array(value)
  throw new TypeError(`column ${name} holds ${typeof value}, not bytes`)
}

/** Reads a column that may be empty. */
export function nullable<T>(read: (row: Row, name: string) => T, row: Row, name: string): T | null {
  return row[name] === null ? null : read(row, name)
}
