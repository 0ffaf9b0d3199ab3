import * as z from 'zod/mini'

/**
 * What `GET /_api/events` tells: a hint to look again, never the data itself, so a lost or doubled
 * event does no harm. `reset` means that the events since the last one seen are no longer known:
 * read everything anew.
 */
export const liveEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('endpoint'), endpoint: z.string(), revision: z.nullable(z.number()) }),
  z.object({ type: z.literal('listener'), endpoint: z.string() }),
  z.object({ type: z.literal('database'), name: z.string() }),
  z.object({ type: z.literal('reset') }),
])

/** {@link liveEvent} as a type. `revision` is null when the endpoint was removed. */
export type LiveEvent = z.infer<typeof liveEvent>
