import * as z from 'zod'

/** A point in time. */
export const time = z.iso.datetime()
