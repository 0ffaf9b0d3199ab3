import * as z from 'zod/mini'
import { QUERY_ADDRESSES } from './endpoints/endpoint.ts'
import { endpointAddress, type RequestBatch, requestQuery } from './endpoints/request.ts'

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

/** An event of what a stream follows besides the changes of the administration. */
export type FollowedEvent =
  | ({ readonly type: 'requests' } & RequestBatch)
  | {
      readonly type: 'feed'
      /** `<database>/<collection>`. */
      readonly feed: string
      /** The position of the last change. Null: the stream no longer follows the feed. */
      readonly position: string | null
      /** Number of changes since the event before. */
      readonly changes: number
    }

/** Maximum number of feeds that a stream of events follows. */
const STREAM_FEEDS = 10

/** The id of an event becomes a line of the stream, so it has no line break. */
const eventId = z.string().check(z.regex(/^[\x21-\x7e]{1,64}$/, 'the id of an event'))

/** Query of `GET /_api/events`. */
export const eventQuery = z.object({
  after: z.optional(
    eventId.check(z.describe('start after the event with this id, such as Gatehouse-Last-Event')),
  ),
  requests: z.optional(
    z
      .array(z.union([z.literal('*'), endpointAddress], 'is not an address'))
      .check(
        z.maxLength(QUERY_ADDRESSES, 'at most 200 addresses'),
        z.describe('follow the requests of this endpoint, or * for all; can be repeated'),
      ),
  ),
  status: requestQuery.shape.status,
  rejected: requestQuery.shape.rejected,
  client: requestQuery.shape.client,
  feed: z.optional(
    z
      .array(z.string().check(z.regex(/^[^/]+\/./s, 'must be <database>/<collection>')))
      .check(
        z.maxLength(STREAM_FEEDS, `at most ${STREAM_FEEDS} feeds`),
        z.describe('follow the feed <database>/<collection>; can be repeated'),
      ),
  ),
})

export type EventQuery = z.infer<typeof eventQuery>
