import type { Rejection, RequestEntry } from '../../server/contract/endpoints/request.ts'

type Rule = Rejection | 'allow' | 'maxConnections' | 'administration' | 'readOnly' | 'rateLimit'

/** Each reason of a rejection: in a few words, and as a sentence. */
const reasons: Readonly<Record<Rule, readonly [string, string]>> = {
  allow: [
    'Client not admitted',
    'The endpoint does not admit this client: its address is blocked, or not in the list of allowed addresses.',
  ],
  maxConnections: [
    'Too many connections',
    'The endpoint had as many open connections as its policy permits.',
  ],
  administration: ['No administration', 'The console and sign-in do not exist at this endpoint.'],
  readOnly: ['Read-only', 'Documents can only be read at this endpoint.'],
  rateLimit: ['Rate limit', 'The endpoint received more requests than its policy permits.'],
  host: ['Unknown host', 'The host name of the request does not belong to this server.'],
  database: [
    'Database not served',
    'The endpoint does not serve the database, or the database does not exist.',
  ],
  credential: ['No valid token', 'The request had no valid token or session.'],
  permission: [
    'Not permitted',
    'The role or scope of the caller, or the page that sent the request, does not permit it.',
  ],
  rate: [
    'Too many requests',
    'The caller sent too many requests, or has too many open jobs or streams.',
  ],
  size: ['Body too large', 'The body of the request exceeds the limit.'],
}

/** Returns why a request was rejected, in a few words. */
export const labelRejection = (rule: string): string => reasons[rule as Rule]?.[0] ?? rule

/** Returns what became of a request, in a sentence that names the rule if it was rejected. */
export function describeRequest({ rejected, client, method, status }: RequestEntry): string {
  if (rejected !== null) {
    const sentence =
      rejected === 'allow' && client !== null
        ? `The endpoint does not admit the address ${client}: it is blocked, or not in the list of allowed addresses.`
        : (reasons[rejected as Rule]?.[1] ?? `The rule “${rejected}” rejected the request.`)
    return method === null ? `The connection was refused. ${sentence}` : sentence
  }
  if (status === null) return 'The client disconnected before the response was complete.'
  if (status >= 500) return 'The server could not answer the request.'
  if (status >= 400) return 'No rule rejected the request, but it could not be answered.'
  return 'The request was answered.'
}

/**
 * Returns who sent a request. The server hides the clients and names of others from viewers.
 *
 * @param seesAll whether the person who looks sees them.
 */
export function describeCaller(request: RequestEntry, seesAll: boolean) {
  const { client, caller, token, endpoint } = request
  const isHidden = !seesAll && client === null && caller === null
  const isLocal = endpoint.startsWith('unix:')
  return {
    client: client ?? (isLocal ? 'Unix socket' : isHidden ? 'hidden' : '–'),
    caller:
      caller === null
        ? isHidden
          ? 'hidden'
          : 'not authenticated'
        : token === null
          ? caller
          : `${caller}, token ${token}`,
  }
}
