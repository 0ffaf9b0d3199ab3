import { type Context, Hono } from 'hono'
import { createTimeSlice } from '../../concurrency/turns.ts'
import { formatAddress } from '../../contract/endpoints/address.ts'
import { CHANGE_ID_HEADER, CHANGES_BYTES } from '../../contract/endpoints/endpoint.ts'
import {
  type EndpointChangeInput,
  endpointChange,
  endpointChangeInput,
  endpointChangeOutcomes,
  unvalidatedChanges,
} from '../../contract/endpoints/endpoint-change.ts'
import { Failure, failureAt } from '../../failure.ts'
import type { AppEnv } from '../../http/env.ts'
import { audited } from '../../http/guards/audit-change.ts'
import { callerOf, type RequireRole } from '../../http/guards/require-role.ts'
import { jsonBody, validated } from '../../http/input/body/json-body.ts'
import { requestHeader } from '../../http/input/headers.ts'
import { describe } from '../../http/openapi/describe.ts'
import { acceptedType, VARY_ACCEPT } from '../../http/output/content-negotiation.ts'
import { API_JSON } from '../../http/output/render-failure.ts'
import { streamText } from '../../http/output/stream-text.ts'
import { requireValidPolicy } from '../../policy/policies.ts'
import { readAddress } from '../address.ts'
import { createMapping } from '../mapping.ts'
import type { BeginBulkChange, BulkChange, BulkRequest } from './bulk-changes.ts'

/** Maximum duration of a bulk change, ms. */
const MAX_DURATION = 30 * 60_000

export interface EndpointChangeRoutesDeps {
  readonly begin: BeginBulkChange
  readonly requireRole: RequireRole
  /** Called with the error that ended a response early. */
  readonly onError: (error: unknown) => void
}

/** `/_api/endpoint-change`: changes of many endpoints in one request. */
export function endpointChangeRoutes({ begin, requireRole, onError }: EndpointChangeRoutesDeps) {
  /** Makes the changes while their outcomes are sent. */
  async function respond(
    c: Context<AppEnv>,
    changes: BulkRequest['changes'],
    keepOnFailure: boolean,
  ): Promise<Response> {
    const now = performance.now()
    const requestEndpoint = c.env.listener.name
    const request = { actor: callerOf(c), requestEndpoint, changes, keepOnFailure }
    const { id, outcomes } = await begin(request)
    const isNdjson = acceptedType(requestHeader(c, 'accept')) === 'application/x-ndjson'
    const texts = print(outcomes, isNdjson)
    // Closing a generator that has not started would not close the outcomes.
    const { value: first = '' } = await texts.next()
    const deadline = now + MAX_DURATION
    const body = streamText(c, first ?? '', texts, { authorizedAt: now, deadline, onError })
    return c.body(body, 200, {
      'Content-Type': isNdjson ? 'application/x-ndjson' : API_JSON,
      // Compression would hold outcomes back.
      'Cache-Control': 'no-store, no-transform',
      [CHANGE_ID_HEADER]: id,
      ...VARY_ACCEPT,
    })
  }

  return new Hono<AppEnv>()
    .post(
      '/',
      describe({
        summary:
          'Change endpoints. The server makes the changes while it responds, and stops if the ' +
          'client disconnects',
        body: endpointChangeInput,
        responses: { 200: endpointChangeOutcomes },
        orLines: true,
        failures: {
          400: 'a change is malformed; no change is made',
          413: 'the body is larger than 4 MiB',
          429: 'the node is making another bulk change',
        },
      }),
      audited('endpoint.change', () => undefined),
      requireRole('operator'),
      jsonBody(unvalidatedChanges, CHANGES_BYTES),
      async (c) => {
        const { changes: unvalidated, keepOnFailure = false } = c.req.valid('json')
        const changes = await validateChanges(unvalidated)
        return respond(c, changes, keepOnFailure)
      },
    )
    .post(
      '/:id/undo',
      describe({
        summary:
          'Undo a bulk change by another bulk change; endpoints changed since then are not touched',
        responses: { 200: endpointChangeOutcomes },
        orLines: true,
        failures: {
          404: 'there is no such bulk change, or it has made no changes',
          429: 'the node is making another bulk change',
        },
      }),
      audited('endpoint.change-undo', (c) => c.req.param('id')),
      requireRole('operator'),
      (c) => respond(c, c.req.param('id'), false),
    )
}

/**
 * Validates changes like single requests, in slices, and returns them with canonical addresses.
 *
 * @throws Failure `bad-parameter` or `bad-database-name`, naming the first invalid change.
 */
export async function validateChanges(
  unvalidated: readonly unknown[],
): Promise<EndpointChangeInput[]> {
  const slice = createTimeSlice()
  const changes = new Map<string, EndpointChangeInput>()
  for (const [at, value] of unvalidated.entries()) {
    await slice()
    const change = validated(endpointChange, value, 'body', ['changes', at])
    try {
      const endpoint = formatAddress(readAddress(change.endpoint))
      if ('databases' in change) createMapping(change.databases)
      if (!('remove' in change) && change.policy) requireValidPolicy(change.policy, endpoint)
      if (changes.has(endpoint)) {
        throw new Failure('bad-parameter', `The endpoint ${endpoint} is listed twice.`, {
          field: '/endpoint',
        })
      }
      changes.set(endpoint, { ...change, endpoint })
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      const message = `changes[${at}]: ${error.message}`
      throw failureAt(`/changes/${at}`, error.with({ message }))
    }
  }
  return [...changes.values()]
}

/** Prints outcomes as lines or as an array. */
async function* print(
  outcomes: BulkChange['outcomes'],
  isNdjson: boolean,
): AsyncGenerator<string, void> {
  let before = isNdjson ? '' : '['
  for await (const some of outcomes) {
    let text = ''
    for (const outcome of some) {
      text += before + JSON.stringify(outcome) + (isNdjson ? '\n' : '')
      if (!isNdjson) before = ','
    }
    yield text
  }
  if (!isNdjson) yield before === '[' ? '[]' : ']'
}
