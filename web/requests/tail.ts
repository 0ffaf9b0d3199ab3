import * as z from 'zod/mini'
import type { RequestBatch, RequestEntry } from '../../server/contract/endpoints/request.ts'

/** Number of requests that a tail keeps. */
const MAX_REQUESTS = 200

/** The requests that a stream has sent, newest first, and the number that it left out. */
export interface Tail extends RequestBatch {}

/** Returns a tail with the next requests of its stream, without the oldest ones. */
export const addBatch = (tail: Tail, { requests, leftOut }: RequestBatch): Tail => ({
  requests: [...requests, ...tail.requests].slice(0, MAX_REQUESTS),
  leftOut: tail.leftOut + leftOut,
})

/** Identifies a request. The ids of a node begin again when it restarts. */
export const keyOf = ({ node, id, time }: RequestEntry): string => `${node} ${id} ${time}`

/** The filter of a tail, as typed. */
export interface TailFilter {
  /** A status or a class of them, or `rejected`; empty for all. */
  readonly status: string
  /** An IP address or a part of one. */
  readonly client: string
  /** A part of the path. */
  readonly path: string
}

export const NO_FILTER: TailFilter = { status: '', client: '', path: '' }

const ipAddress = z.union([z.ipv4(), z.ipv6()])

/** Returns the complete address that a text is; undefined if it is none. */
const toAddress = (text: string): string | undefined => ipAddress.safeParse(text).data

/**
 * Returns the query of a stream. The server selects by what it can, because it sends a limited number
 * of requests per second.
 *
 * @param endpoint the address; undefined for the rejected requests of all endpoints.
 */
export function toStreamQuery(endpoint: string | undefined, filter: TailFilter): string {
  const query = new URLSearchParams(endpoint === undefined ? { rejected: 'true' } : { endpoint })
  if (filter.status === 'rejected') query.set('rejected', 'true')
  else if (filter.status !== '') query.set('status', filter.status)
  const client = toAddress(normalize(filter.client))
  if (client !== undefined) query.set('client', client)
  return query.toString()
}

/** Returns whether a request matches a filter. */
export function matchesTail(request: RequestEntry, filter: TailFilter): boolean {
  const { status, rejected, client, path } = request
  const text = normalize(filter.client)
  const isStatus =
    filter.status === 'rejected'
      ? rejected !== null
      : `${status ?? ''}`.startsWith(filter.status.replace('xx', ''))
  const isClient = toAddress(text) === undefined ? (client ?? '').includes(text) : client === text
  return isStatus && isClient && (path ?? '').toLowerCase().includes(normalize(filter.path))
}

const normalize = (text: string): string => text.trim().toLowerCase()
