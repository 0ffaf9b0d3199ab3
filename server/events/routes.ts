import { type Context, Hono } from 'hono'
import { type SSEStreamingApi, streamSSE } from 'hono/streaming'
import type { LiveEvent } from '../contract/event.ts'
import type { Principal } from '../contract/principal.ts'
import { describe } from '../http/describe.ts'
import type { AppEnv } from '../http/env.ts'
import type { Permit } from '../http/permit.ts'
import type { EventHub } from './hub.ts'
import { createStreamLimit, type StreamLimit } from './stream-limit.ts'

/** How often a stream says that it is alive, ms. */
export const HEARTBEAT = 15_000

/** How soon a reader is asked to come back after its stream has ended, ms. */
const RETRY = 1_000

/** Whoever the credentials of a request belong to; undefined: they are not good for it any more. */
export type WhoIsIn = (c: Context<AppEnv>) => Promise<Principal | undefined>

/**
 * `/_api/events`: live changes as server-sent events (HTML Standard §9.2), resumed after the
 * `Last-Event-ID`. The first event, `hello`, carries the id to resume from when nothing else came.
 * Fails with `too-many-requests` beyond a {@link StreamLimit}.
 */
export const eventRoutes = (
  hub: EventHub,
  permit: Permit,
  whoIsIn: WhoIsIn,
  limit: StreamLimit = createStreamLimit(),
) =>
  new Hono<AppEnv>().get(
    '/',
    describe({
      summary: 'Follow live changes',
      answers: { 200: 'text/event-stream' },
      failures: { 429: 'too many streams are open' },
    }),
    // Open as long as the page is: that is no use of the session.
    permit('viewer', { background: true }),
    (c) => {
      const draining = c.env.via.draining
      // Proxies that collect answers before they pass them on are asked not to (nginx).
      c.header('X-Accel-Buffering', 'no')
      // Whoever asks for the head alone reads nothing, and would be waited for for ever.
      if (c.req.method === 'HEAD') return c.body(null, 200, { 'Content-Type': 'text/event-stream' })
      const { personId } = c.get('principal') as Principal
      const leave = limit.enter(personId)
      return streamSSE(c, (stream) =>
        follow(hub, stream, c.req.header('Last-Event-ID') ?? hub.lastId, draining, () =>
          whoIsIn(c),
        ).finally(leave),
      )
    },
  )

async function follow(
  hub: EventHub,
  stream: SSEStreamingApi,
  from: string,
  draining: AbortSignal,
  whoIsIn: () => Promise<Principal | undefined>,
): Promise<void> {
  let wake = () => {}
  /** Whether something has come since it was last looked at what there is, and for whom. */
  let called = false
  const unsubscribe = hub.subscribe(() => {
    called = true
    wake()
  })
  const stop = () => {
    stream.abort()
    wake()
  }
  stream.onAbort(() => wake())
  draining.addEventListener('abort', stop, { once: true })
  try {
    let seen = from
    await stream.writeSSE({ event: 'hello', data: '{}', id: seen, retry: RETRY })
    // Asked before each word: a session that ends ends its streams, too.
    while (!stream.aborted && !draining.aborted) {
      called = false
      const who = await whoIsIn()
      if (who === undefined) break
      for (const { id, event } of hub.after(seen)) {
        seen = id
        if (concerns(event, who)) await stream.writeSSE({ id, data: JSON.stringify(event) })
      }
      const quiet = await new Promise<boolean>((resolve) => {
        const timer = setTimeout(() => resolve(true), HEARTBEAT)
        timer.unref()
        wake = () => {
          clearTimeout(timer)
          resolve(false)
        }
        // It may have come while an answer or the last write was waited for.
        if (stream.aborted || draining.aborted || called) wake()
      })
      if (quiet && (await whoIsIn()) !== undefined)
        await stream.writeSSE({ event: 'heartbeat', data: '{}' })
    }
  } finally {
    unsubscribe()
    draining.removeEventListener('abort', stop)
  }
}

/** Whether somebody may know of an event: what is about a person is for admins and that person. */
function concerns(event: LiveEvent, { role, personId }: Principal): boolean {
  const about = event.type === 'person' ? event.id : event.type === 'token' ? event.owner : null
  return about === null || about === personId || role === 'admin'
}
