import { type Context, Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import { type SSEStreamingApi, streamSSE } from 'hono/streaming'
import { PersonLimit } from '../concurrency/person-limit.ts'
import type { Principal } from '../contract/access/principal.ts'
import { createEndpointView, type EndpointView, inScope } from '../contract/access/scope.ts'
import { LAST_EVENT_HEADER } from '../contract/access/session.ts'
import { type EventQuery, eventQuery } from '../contract/event.ts'
import { Failure } from '../failure.ts'
import type { AppEnv } from '../http/env.ts'
import { principalOf, type RequireRole } from '../http/guards/require-role.ts'
import { queryInput } from '../http/input/query-input.ts'
import { describe } from '../http/openapi/describe.ts'
import type { EventHub, NumberedEvent } from './hub.ts'
import type { StreamPart } from './stream-part.ts'

/**
 * Period of stream heartbeats, ms. The console reports a lost connection within 15 s, which allows
 * for one late heartbeat. 1,000 streams cost 200 small writes a second.
 */
export const HEARTBEAT = 5_000

/** How often a quiet stream authenticates its reader again, in heartbeats. */
export const HEARTBEATS_PER_CHECK = 3

/** Reconnect delay that is sent to readers, ms. */
const RECONNECT_DELAY = 1_000

/** Returns the parts that a request asks for. */
export type PartsOf = (c: Context<AppEnv>, query: EventQuery) => readonly StreamPart[]

/**
 * Responds with a stream of the events after one, and of other parts. Fails with
 * `too-many-requests` beyond a {@link StreamLimit}.
 */
export type SendStream = (
  c: Context<AppEnv>,
  after: string,
  parts: readonly StreamPart[],
) => Response

/** Returns the principal of a request's credentials; undefined: they are no longer valid. */
export type AuthenticateReader = (c: Context<AppEnv>) => Promise<Principal | undefined>

/**
 * Routes of `/_api/events`: live changes as server-sent events (HTML Standard §9.2). A stream
 * resumes after the `Last-Event-ID`, or after the event that `after` names. The first event,
 * `hello`, carries the id to resume from if no other event arrives.
 */
export const eventRoutes = (
  hub: EventHub,
  requireRole: RequireRole,
  sendStream: SendStream,
  partsOf: PartsOf,
) =>
  new Hono<AppEnv>().get(
    '/',
    describe({
      summary: 'Follow live changes',
      query: eventQuery,
      responses: { 200: 'text/event-stream' },
      failures: {
        400: 'a parameter is invalid; the message names it',
        429: 'too many streams are open',
      },
    }),
    // Not a use of the session: the stream stays open as long as the page.
    requireRole('viewer', { background: true, inMemory: true }),
    queryInput(eventQuery),
    (c) => {
      const query = c.req.valid('query')
      const from = c.req.header('Last-Event-ID') ?? query.after ?? hub.lastId
      return sendStream(c, from, partsOf(c, query))
    },
  )

/** Returns a {@link SendStream}. Streams end with the permission of their reader. */
export const createSendStream =
  (
    hub: Pick<EventHub, 'subscribe' | 'after'>,
    authenticate: AuthenticateReader,
    limit: StreamLimit = createStreamLimit(),
  ): SendStream =>
  (c, after, parts) => {
    const draining = c.env.listener.draining
    // Disables response buffering in nginx.
    c.header('X-Accel-Buffering', 'no')
    // A HEAD request never reads a body, so the stream would never end.
    if (c.req.method === 'HEAD') return c.body(null, 200, { 'Content-Type': 'text/event-stream' })
    const { personId } = principalOf(c)
    const leave = limit.enter(personId)
    return streamSSE(c, (stream) =>
      follow(hub, after, parts, stream, draining, () => authenticate(c)).finally(leave),
    )
  }

/**
 * Names the last event before the response, so that a page can follow all changes after its state.
 */
export const lastEventHeader = (hub: EventHub) =>
  createMiddleware<AppEnv>(async (c, next) => {
    const { lastId } = hub
    await next()
    if (c.get('principal') !== undefined) c.header(LAST_EVENT_HEADER, lastId)
  })

/** @param hub wakes the stream when its reader may have lost the permission. */
async function follow(
  hub: Pick<EventHub, 'subscribe' | 'after'>,
  after: string,
  parts: readonly StreamPart[],
  stream: SSEStreamingApi,
  draining: AbortSignal,
  authenticate: () => Promise<Principal | undefined>,
): Promise<void> {
  let id = after
  let wake = () => {}
  /** Whether a wake arrived since the last read of events. */
  let woken = false
  const onWake = () => {
    woken = true
    wake()
  }
  const subscriptions = [hub, ...parts].map((each) => each.subscribe(onWake))
  const stop = () => {
    stream.abort()
    wake()
  }
  stream.onAbort(() => wake())
  draining.addEventListener('abort', stop, { once: true })
  try {
    /** Heartbeats since the reader was last authenticated. */
    let unchecked = HEARTBEATS_PER_CHECK
    await stream.writeSSE({ event: 'hello', data: '{}', id, retry: RECONNECT_DELAY })
    while (!stream.aborted && !draining.aborted) {
      // Authenticate before sending events: the end of a session ends its streams.
      if (woken || unchecked >= HEARTBEATS_PER_CHECK) {
        woken = false
        unchecked = 0
        const principal = await authenticate()
        if (principal === undefined) break
        const view = createEndpointView(principal.databases)
        for (const numbered of hub.after(id)) {
          id = numbered.id
          if (!isRelevant(numbered, principal, view)) continue
          await stream.writeSSE({ id, data: JSON.stringify(numbered.event) })
        }
        for (const part of parts) {
          const event = await part.take(principal)
          if (event !== undefined) await stream.writeSSE({ data: JSON.stringify(event) })
        }
      }
      const quiet = await new Promise<boolean>((resolve) => {
        const timer = setTimeout(() => resolve(true), HEARTBEAT)
        timer.unref()
        wake = () => {
          clearTimeout(timer)
          resolve(false)
        }
        // A wake may have arrived during the authentication or the last write.
        if (stream.aborted || draining.aborted || woken) wake()
      })
      if (quiet) {
        unchecked += 1
        await stream.writeSSE({ event: 'heartbeat', data: '{}', id })
      }
    }
  } finally {
    for (const unsubscribe of subscriptions) unsubscribe()
    draining.removeEventListener('abort', stop)
  }
}

/**
 * Returns whether a principal may see an event. Only admins and the person concerned see events
 * about a person. A principal that is limited to databases sees events of these databases, and of
 * endpoints that serve one.
 */
function isRelevant(
  { event, databases }: NumberedEvent,
  { role, personId, databases: scope }: Principal,
  view: EndpointView,
): boolean {
  if (event.type === 'database') return inScope(scope, event.name)
  if ('endpoint' in event) return view.shows(databases)
  const about = event.type === 'person' ? event.id : event.type === 'token' ? event.owner : null
  return about === null || about === personId || role === 'admin'
}

/**
 * Maximum number of open event streams per person and node, including those of tokens. A browser
 * uses one.
 */
const STREAMS_PER_PERSON = 50

/** Maximum number of open event streams per node. */
const STREAMS = 1_000

/** Limits the number of open event streams: each event costs work for every stream. */
interface StreamLimit {
  /**
   * Reserves a stream for a person. Returns a function that releases it.
   *
   * @throws Failure `too-many-requests`
   */
  enter(personId: string): () => void
}

export function createStreamLimit(ofPerson = STREAMS_PER_PERSON, all = STREAMS): StreamLimit {
  const open = new PersonLimit(all, ofPerson)
  return {
    enter(personId) {
      const reached = open.enter(personId)
      if (reached !== undefined) {
        throw tooMany(
          reached === 'person'
            ? `You have ${ofPerson} open event streams on this node`
            : `This node has ${all} open event streams`,
        )
      }
      let entered = true
      return () => {
        if (!entered) return
        entered = false
        open.leave(personId)
      }
    },
  }
}

const tooMany = (what: string) =>
  new Failure('too-many-requests', `${what}, the maximum. Close one and try again.`, {
    headers: { 'Retry-After': '60' },
  })
