import { Hono } from 'hono'
import * as z from 'zod/mini'
import { type Acknowledgement, acknowledgement } from '../contract/acknowledgement.ts'
import { endpointInput, endpointList, endpointQuery } from '../contract/endpoint.ts'
import { Failure } from '../failure.ts'
import { audited } from '../http/audited.ts'
import { describe } from '../http/describe.ts'
import type { AppEnv } from '../http/env.ts'
import { jsonBody } from '../http/json-body.ts'
import type { Permit } from '../http/permit.ts'
import { queryInput } from '../http/query-input.ts'
import type { SendList } from '../http/send-list.ts'
import { canonicalAddress } from './address.ts'
import type { EndpointRegistry } from './registry.ts'
import type { ExpectedRevision } from './repository.ts'

const DONE: Acknowledgement = { result: true, error: false, code: 200 }

/** `/_api/endpoint` (seed 000): what is configured. */
export const endpointRoutes = (endpoints: EndpointRegistry, permit: Permit, sendList: SendList) =>
  new Hono<AppEnv>()
    .get(
      '/',
      describe({
        summary: 'List the endpoints',
        query: endpointQuery,
        answers: { 200: endpointList },
      }),
      permit('viewer'),
      queryInput(endpointQuery),
      (c) => {
        const wanted = c.req.valid('query').endpoint
        const all = endpoints.list()
        const names = wanted && new Set(wanted)
        return sendList(
          c,
          all.filter(({ endpoint }) => names?.has(endpoint) ?? true),
        )
      },
    )
    .post(
      '/',
      describe({
        summary:
          'Add an endpoint, or replace the databases of one: If-Match takes its revision, ' +
          'If-None-Match: * allows a new one alone',
        conditions: ['If-Match', 'If-None-Match'],
        body: endpointInput,
        answers: { 200: acknowledgement },
        failures: {
          400: 'a field is wrong, or the address cannot be used here',
          403: 'the system forbids the port',
          409: 'the port is taken, or it is the last way to _system',
          412: 'the endpoint has another revision',
        },
      }),
      audited('endpoint.add', (c) => named(c.req.valid('json')?.endpoint)),
      permit('operator'),
      jsonBody(endpointInput),
      async (c) => {
        const onlyNew = c.req.header('If-None-Match')?.trim() === '*'
        const expected = onlyNew ? 'none' : expectedRevision(c.req.header('If-Match'))
        await endpoints.add(c.req.valid('json'), c.get('actor'), expected)
        return c.json(DONE, 200)
      },
    )
    .delete(
      '/:address{.+}',
      describe({
        summary: 'Remove an endpoint; the address is percent-encoded',
        conditions: ['If-Match'],
        answers: { 200: acknowledgement },
        failures: {
          404: 'there is no such endpoint',
          409: 'it is the last way to _system',
          412: 'the endpoint has another revision',
        },
      }),
      audited('endpoint.remove', (c) => named(c.req.param('address'))),
      permit('operator'),
      async (c) => {
        const expected = expectedRevision(c.req.header('If-Match'))
        await endpoints.remove(c.req.param('address'), c.get('actor'), expected)
        return c.json(DONE, 200)
      },
    )

/** An address as the log names it, also one that is none. */
const named = (address: string | undefined) => canonicalAddress(address ?? '') ?? address

const revision = z.coerce.number().check(z.int(), z.nonnegative())

/**
 * Reads the revision of an `If-Match` header (RFC 9110 §13.1.1): `*`, or one entity tag, the quotes
 * of which may be missing.
 *
 * @throws Failure `bad-parameter`
 */
function expectedRevision(header: string | undefined): ExpectedRevision {
  if (header === undefined) return undefined
  if (header.trim() === '*') return 'any'
  const digits = /^"?([0-9]{1,15})"?$/.exec(header.trim())?.[1]
  const read = revision.safeParse(digits)
  if (digits === undefined || !read.success) {
    throw new Failure('bad-parameter', 'The header If-Match takes one revision, as in "12", or *.')
  }
  return read.data
}
