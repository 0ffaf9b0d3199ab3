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
  /** Somebody, or their sessions. Told to admins and to themselves; null: whoever, told to all. */
  z.object({ type: z.literal('person'), id: z.nullable(z.string()) }),
  /** A token of somebody's. Told to admins and to its owner; null: whoever's, told to all. */
  z.object({ type: z.literal('token'), owner: z.nullable(z.string()) }),
  z.object({ type: z.literal('audit') }),
  z.object({ type: z.literal('reset') }),
])

/** {@link liveEvent} as a type. `revision` is null when the endpoint was removed. */
export type LiveEvent = z.infer<typeof liveEvent>
