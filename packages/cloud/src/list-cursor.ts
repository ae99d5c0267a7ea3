import { CloudError } from './errors.ts'

/** A place in a list, newest first: what comes before it. */
export interface ListPlace {
  readonly createdAt: number
  readonly id: string
}

/** Spells a place for clients, who are not to read it. */
export function cursorOf({ createdAt, id }: ListPlace): string {
  return Buffer.from(`${createdAt} ${id}`).toString('base64url')
}

/** Reads a place that we have spelled. */
export function placeOf(cursor: string): ListPlace {
  const text = Buffer.from(cursor, 'base64url').toString('utf8')
  const [, createdAt, id] = /^(\d{1,15}) ([0-9a-f-]{36})$/.exec(text) ?? []
  const place = createdAt !== undefined && id !== undefined && { createdAt: Number(createdAt), id }
  if (place && cursorOf(place) === cursor) return place
  throw new CloudError('INVALID_REQUEST', 'cursor: it is not one that this list has given.')
}
