import * as z from 'zod/mini'

/**
 * Returns a time as ISO 8601 in UTC; null for null.
 *
 * @param ms since 1970.
 */
export function toIsoTime(ms: number): string
export function toIsoTime(ms: number | null): string | null
export function toIsoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}

/** A time in a request. Without a time zone, it would depend on the server's. */
export const isoTime = z.union(
  [z.iso.datetime({ offset: true }), z.iso.date()],
  'an ISO 8601 time with a time zone, or a date',
)
