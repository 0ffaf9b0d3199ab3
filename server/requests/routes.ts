import { Hono } from 'hono'
import { requestList, requestQuery, toRequestFilter } from '../contract/endpoints/request.ts'
import type { AppEnv } from '../http/env.ts'
import { principalOf, type RequireRole } from '../http/guards/require-role.ts'
import { queryInput } from '../http/input/query-input.ts'
import { describe } from '../http/openapi/describe.ts'
import type { SendList } from '../http/output/send-list.ts'
import type { RequestRecorder } from './recorder.ts'

export interface RequestRoutesDeps {
  readonly recorder: Pick<RequestRecorder, 'list'>
  readonly requireRole: RequireRole
  readonly sendList: SendList
}

/** `/_api/request`: the last requests of the endpoints on this node. */
export const requestRoutes = ({ recorder, requireRole, sendList }: RequestRoutesDeps) =>
  new Hono<AppEnv>().get(
    '/',
    describe({
      summary: 'List the last requests of this node',
      query: requestQuery,
      responses: { 200: requestList },
      failures: { 400: 'a parameter is invalid; the message names it' },
    }),
    requireRole('viewer', { inMemory: true }),
    queryInput(requestQuery),
    (c) => sendList(c, recorder.list(toRequestFilter(c.req.valid('query')), principalOf(c))),
  )
