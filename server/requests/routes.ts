import { Hono } from 'hono'
import { requestList, requestQuery, toRequestFilter } from '../contract/endpoints/request.ts'
import type { SendStream } from '../events/routes.ts'
import type { AppEnv } from '../http/env.ts'
import { principalOf, type RequireRole } from '../http/guards/require-role.ts'
import { queryInput } from '../http/input/query-input.ts'
import { describe } from '../http/openapi/describe.ts'
import type { SendList } from '../http/output/send-list.ts'
import type { RequestRecorder } from './recorder.ts'

export interface RequestRoutesDeps {
  readonly recorder: Pick<RequestRecorder, 'list' | 'watch'>
  readonly requireRole: RequireRole
  readonly sendList: SendList
  readonly sendStream: SendStream
}

/** `/_api/request`: the last requests of the endpoints on this node, as a list or as a stream. */
export const requestRoutes = ({ recorder, requireRole, sendList, sendStream }: RequestRoutesDeps) =>
  new Hono<AppEnv>().get(
    '/',
    describe({
      summary: 'List or follow the last requests of this node',
      query: requestQuery,
      responses: { 200: requestList },
      orEvents: true,
      failures: {
        400: 'a parameter is invalid; the message names it',
        429: 'too many streams are open',
      },
    }),
    // Not a use of the session: a page follows the requests as long as it is open.
    requireRole('viewer', { background: true, inMemory: true }),
    queryInput(requestQuery),
    (c) => {
      const filter = toRequestFilter(c.req.valid('query'))
      const reader = principalOf(c)
      if (!acceptsStream(c.req.header('Accept'))) return sendList(c, recorder.list(filter, reader))
      const watcher = recorder.watch(filter, reader)
      return sendStream(c, {
        subscribe: watcher.subscribe,
        *take(now) {
          const batch = watcher.take(now)
          if (batch !== undefined) yield { data: JSON.stringify(batch) }
        },
      }) as never
    },
  )

const acceptsStream = (accept = '') => accept.includes('text/event-stream')
