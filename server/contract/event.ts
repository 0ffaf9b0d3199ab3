import * as z from 'zod/mini'

/**
 * An event of `GET /_api/events`: a hint to reload, never the data itself, so lost or repeated
 * events do no harm. `reset` means that events since the last seen one are no longer known: reload
 * everything.
 */
const liveEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('endpoint'), endpoint: z.string(), revision: z.nullable(z.int()) }),
  z.object({ type: z.literal('listener'), endpoint: z.string() }),
  z.object({ type: z.literal('database'), name: z.string() }),
  /** A certificate was added, replaced or removed. */
  z.object({ type: z.literal('certificate') }),
  /**
   * A person, or their sessions. Sent to admins and to that person; null: any person, sent to all.
   */
  z.object({ type: z.literal('person'), id: z.nullable(z.string()) }),
  /** A token. Sent to admins and to its owner; null: any owner, sent to all. */
  z.object({ type: z.literal('token'), owner: z.nullable(z.string()) }),
  /** An index of a collection was created or deleted, or its build has ended. */
  z.object({ type: z.literal('index') }),
  /** A webhook was changed, or has delivered something. */
  z.object({ type: z.literal('webhook') }),
  /** A managed provider was added, changed or removed. */
  z.object({ type: z.literal('provider') }),
  z.object({ type: z.literal('audit') }),
  z.object({ type: z.literal('reset') }),
])

/** `revision` is null when the endpoint was removed. */
export type LiveEvent = z.infer<typeof liveEvent>

/** The id of an event becomes a line of the stream, so it has no line break. */
const eventId = z.string().check(z.regex(/^[\x21-\x7e]{1,64}$/, 'the id of an event'))

/** Query of `GET /_api/events`. */
export const eventQuery = z.object({
  after: z.optional(
    eventId.check(z.describe('start after the event with this id, such as Gatehouse-Last-Event')),
  ),
})

/**
 * Response header of `GET /_api/session`: the id of the last event before the response. A page that
 * reads its data after this response misses no change if it follows the events from this id.
 */
export const LAST_EVENT_HEADER = 'Gatehouse-Last-Event'
