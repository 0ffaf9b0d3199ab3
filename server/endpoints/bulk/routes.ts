import { type Context, Hono } from 'hono'
import { createTimeSlice } from '../../concurrency/time-slice.ts'
import { createTurns, type NextTurn } from '../../concurrency/turns.ts'
import {
  CHANGES_BYTES,
  type EndpointChangeInput,
  endpointChange,
  endpointChangeInput,
  endpointChangeList,
  endpointChangePage,
  endpointChangeQuery,
  endpointChangeView,
  unvalidatedChanges,
} from '../../contract/endpoints/endpoint-change.ts'
import type { AppEnv } from '../../http/env.ts'
import { audited } from '../../http/guards/audit-change.ts'
import { callerOf, principalOf, type RequireRole } from '../../http/guards/require-role.ts'
import { jsonBody } from '../../http/input/body/json-body.ts'
import { queryInput } from '../../http/input/query-input.ts'
import { validated } from '../../http/input/validated.ts'
import { describe } from '../../http/openapi/describe.ts'
import type { BulkChanges } from './bulk-changes.ts'

/** Default number of failures on a page. */
const FAILURES = 100

const nextTurn = createTurns()

/** `/_api/endpoint-change`: changes of many endpoints in one request. */
export const endpointChangeRoutes = (bulk: BulkChanges, requireRole: RequireRole) =>
  new Hono<AppEnv>()
    .post(
      '/',
      describe({
        summary:
          'Start a bulk change of endpoints. The server makes the changes after it has responded. ' +
          'It stops if the caller loses the operator role or the token expires',
        body: endpointChangeInput,
        responses: { 202: endpointChangeView },
        failures: {
          400: 'a change is malformed; no change is made',
          413: 'the body is larger than 4 MiB',
          429: 'too many bulk changes are waiting or running',
        },
      }),
      audited('endpoint.change', () => undefined),
      requireRole('operator'),
      jsonBody(unvalidatedChanges, CHANGES_BYTES),
      async (c) => {
        const { changes: unvalidated, keepOnFailure = false } = c.req.valid('json')
        const changes = await validateChanges(unvalidated, nextTurn)
        const view = await bulk.begin({ ...requesterOf(c), changes, keepOnFailure })
        return c.json(view, 202, { Location: `/_api/endpoint-change/${view.id}` })
      },
    )
    .get(
      '/',
      describe({
        summary: 'List the bulk changes of the last day, at most 50',
        responses: { 200: endpointChangeList },
      }),
      requireRole('viewer'),
      async (c) => c.json(await bulk.list(), 200),
    )
    .get(
      '/:id',
      describe({
        summary: 'Get the progress of a bulk change and its failures',
        query: endpointChangeQuery,
        responses: { 200: endpointChangePage },
        failures: { 404: 'there is no such bulk change' },
      }),
      requireRole('viewer'),
      queryInput(endpointChangeQuery),
      async (c) => {
        const { after = -1, limit = FAILURES } = c.req.valid('query')
        return c.json(await bulk.page(c.req.param('id'), after, limit), 200)
      },
    )
    .delete(
      '/:id',
      describe({
        summary: 'Cancel a bulk change; changes already made are kept',
        responses: { 200: endpointChangeView },
        failures: { 404: 'there is no such bulk change' },
      }),
      audited('endpoint.change-cancel', (c) => c.req.param('id')),
      requireRole('operator'),
      async (c) => c.json(await bulk.cancel(c.req.param('id'), callerOf(c)), 200),
    )
    .post(
      '/:id/undo',
      describe({
        summary:
          'Undo a bulk change by another bulk change; endpoints changed since then are not touched',
        responses: { 202: endpointChangeView },
        failures: {
          404: 'there is no such bulk change',
          409: 'it has not ended, has already been undone, or made no changes',
          429: 'too many bulk changes are waiting or running',
        },
      }),
      audited('endpoint.change-undo', (c) => c.req.param('id')),
      requireRole('operator'),
      async (c) => {
        const view = await bulk.undo(c.req.param('id'), requesterOf(c))
        return c.json(view, 202, { Location: `/_api/endpoint-change/${view.id}` })
      },
    )

/**
 * Validates the changes of a body in slices.
 *
 * @throws Failure `bad-parameter`, naming the first invalid change.
 */
export async function validateChanges(
  changes: readonly unknown[],
  nextTurn: NextTurn,
): Promise<EndpointChangeInput[]> {
  const slice = createTimeSlice(nextTurn)
  const valid: EndpointChangeInput[] = []
  for (const [at, change] of changes.entries()) {
    valid.push(validated(endpointChange, change, 'body', ['changes', at]))
    await slice()
  }
  return valid
}

const requesterOf = (c: Context<AppEnv>) => ({
  actor: c.get('actor'),
  principal: principalOf(c),
  requestEndpoint: c.env.listener.name,
})
