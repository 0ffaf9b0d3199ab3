import * as z from 'zod/mini'

/** A time in a request. Without a time zone, it would depend on the server's. */
export const isoTime = z.union(
  [z.iso.datetime({ offset: true }), z.iso.date()],
  'an ISO 8601 time with a time zone, or a date',
)
