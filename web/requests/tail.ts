import type { RequestBatch, RequestEntry } from '../../server/contract/endpoints/request.ts'

/** Number of requests that a tail keeps. */
const MAX_REQUESTS = 200

/** The requests that a stream has sent, newest first, and the number that it left out. */
export type Tail = Omit<RequestBatch, 'isFirst'>

/**
 * Returns a tail with the next requests of its stream, without the oldest ones. The first batch of a
 * stream replaces the tail.
 */
export const addBatch = (
  tail: Tail | undefined,
  { requests, leftOut, isFirst }: RequestBatch,
): Tail =>
  tail === undefined || isFirst
    ? { requests, leftOut }
    : {
        requests: [...requests, ...tail.requests].slice(0, MAX_REQUESTS),
        leftOut: tail.leftOut + leftOut,
      }

/** Identifies a request. The ids of a node begin again when it restarts. */
export const keyOf = ({ node, id, time }: RequestEntry): string => `${node} ${id} ${time}`

/** The filter of a tail, as typed. */
export interface TailFilter {
  /** A status or a class of them, `rejected`, or {@link NOT_ADMITTED}; empty for all. */
  readonly status: string
  /** An IP address or a part of one. */
  readonly client: string
  /** A part of the path. */
  readonly path: string
}

/** The reason of a rejection that has no status of its own: a refused connection has none. */
export const NOT_ADMITTED = 'allow'

export const NO_FILTER: TailFilter = { status: '', client: '', path: '' }

/** Returns the canonical IP address that a text is; undefined if it is no complete address. */
function toAddress(text: string): string | undefined {
  const isV6 = text.includes(':')
  const url = `http://${isV6 ? `[${text}]` : text}`
  if (!URL.canParse(url)) return undefined
  const { hostname } = new URL(url)
  if (isV6) return hostname.slice(1, -1)
  return hostname === text && text.split('.').length === 4 ? text : undefined
}

/**
 * Returns what a stream of events follows. The server selects by what it can, because it sends a limited number
 * of requests per second.
 *
 * @param endpoint the address; undefined for the rejected requests of all endpoints.
 */
export function toStreamQuery(endpoint: string | undefined, filter: TailFilter): string {
  const query = new URLSearchParams({ requests: endpoint ?? '*' })
  if (endpoint === undefined) query.set('rejected', 'true')
  if (filter.status === 'rejected' || filter.status === NOT_ADMITTED) query.set('rejected', 'true')
  else if (filter.status !== '') query.set('status', filter.status)
  const client = toAddress(normalize(filter.client))
  if (client !== undefined) query.set('client', client)
  return query.toString()
}

/** Returns a function that tells whether a request matches a filter. */
export function toMatch(filter: TailFilter): (request: RequestEntry) => boolean {
  const [text, part] = [normalize(filter.client), normalize(filter.path)]
  const address = toAddress(text)
  const digits = filter.status.replace('xx', '')
  const hasStatus = ({ status, rejected }: RequestEntry) => {
    if (filter.status === NOT_ADMITTED) return rejected === NOT_ADMITTED
    if (filter.status === 'rejected') return rejected !== null
    return `${status ?? ''}`.startsWith(digits)
  }
  return (request) =>
    hasStatus(request) &&
    (address === undefined ? (request.client ?? '').includes(text) : request.client === address) &&
    (request.path ?? '').toLowerCase().includes(part)
}

const normalize = (text: string): string => text.trim().toLowerCase()
