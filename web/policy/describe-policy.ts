import { includesDatabase, SYSTEM_DATABASE } from '../../server/contract/database.ts'
import type { Policy } from '../../server/contract/endpoints/policy.ts'
import { formatBinary, formatCount, formatPerSecond } from '../ui/text/format-number.ts'
import { NO_CONSOLE } from './rule-changes.ts'

/** The rules of a policy that a sentence describes. */
export type DescribedRule =
  | 'clients'
  | 'documents'
  | 'anonymous'
  | 'administration'
  | 'cors'
  | 'rate'
  | 'connections'
  | 'bodies'
  | 'tls'

/** Returns a sentence for each rule that says what it does at an endpoint with a mapping. */
export function describeRules(
  policy: Policy,
  mapping: readonly string[],
): Record<DescribedRule, string> {
  return {
    clients: describeClients(policy),
    documents: policy.readOnly
      ? 'No caller can change documents, with or without a token.'
      : 'Documents can be read and written.',
    anonymous: describeAnonymous(policy.anonymous),
    administration: describeAdministration(policy, mapping),
    cors: describeCors(policy.cors),
    rate: describeRate(policy.rateLimit),
    connections:
      policy.maxConnections === undefined
        ? 'Connections are not limited.'
        : `${counted(policy.maxConnections, 'connection')} can be open at once. On each node.`,
    bodies:
      policy.maxBodyBytes === undefined
        ? 'Request bodies have the limit of the server.'
        : `Request bodies can have ${formatBinary(policy.maxBodyBytes)}.`,
    tls: describeTls(policy.tls),
  }
}

const list = new Intl.ListFormat('en-GB')

/** Maximum number of names in a sentence; the rest is only counted. */
const MAX_NAMES = 5

/** Formats names: "a, b and c", "a, b, c, d, e and 12 more". */
function formatNames(names: readonly string[]): string {
  const more = names.length - MAX_NAMES
  return list.format(more > 1 ? [...names.slice(0, MAX_NAMES), `${formatCount(more)} more`] : names)
}

const counted = (count: number, thing: string) =>
  `${formatCount(count)} ${thing}${count === 1 ? '' : 's'}`

function describeClients({ allow, deny = [] }: Policy): string {
  if (allow?.length === 0) return 'No client can connect.'
  if (allow === undefined) {
    return deny.length === 0
      ? 'Every client can connect.'
      : `Every client can connect, except from ${formatNames(deny)}.`
  }
  const only =
    allow.length === 1
      ? `Only ${allow[0]} can connect`
      : `Only ${formatCount(allow.length)} networks can connect: ${formatNames(allow)}`
  return deny.length === 0 ? `${only}.` : `${only}. Blocked: ${formatNames(deny)}.`
}

function describeAnonymous(anonymous: Policy['anonymous'] = 'none'): string {
  const read = anonymous === 'none' ? [] : anonymous.read
  if (read !== true && read.length === 0) return 'Every request for documents needs a token.'
  const what = read === true ? 'all collections' : formatNames(read)
  return `Everyone can read ${what} without a token.`
}

function describeAdministration(policy: Policy, mapping: readonly string[]): string {
  if (policy.administration === false) return 'The console and sign-in do not exist here.'
  return includesDatabase(mapping, SYSTEM_DATABASE)
    ? 'The console and sign-in are available here.'
    : NO_CONSOLE
}

function describeCors(cors: Policy['cors']): string {
  if (cors === undefined) return 'Web pages of other origins cannot read documents.'
  const whose = cors.origins[0] === '*' ? 'all origins' : formatNames(cors.origins)
  const age = cors.maxAge === undefined ? '' : ` Browsers keep the permission for ${cors.maxAge} s.`
  return `Pages of ${whose} can read documents.${age}`
}

function describeRate(rateLimit: Policy['rateLimit']): string {
  if (rateLimit === undefined) return 'Requests are not limited.'
  const { requestsPerSecond, burst, by = 'client' } = rateLimit
  const whose = by === 'endpoint' ? 'All clients together' : `Each ${by}`
  const requests = requestsPerSecond === 1 ? 'request' : 'requests'
  const atOnce = burst === undefined ? '' : `, ${formatCount(burst)} at once`
  return `${whose} can send ${formatPerSecond(requestsPerSecond)} ${requests} per second${atOnce}. On each node.`
}

/** Describes the TLS of an endpoint; '' without rules, also because it may have no TLS. */
function describeTls(tls: Policy['tls']): string {
  if (tls === undefined) return ''
  const { certificates, minVersion = '1.2', clientAuth } = tls
  const one = certificates.length === 1
  const own = `TLS ${minVersion} or newer, with the ${one ? 'certificate' : 'certificates'} ${formatNames(certificates)}.`
  if (clientAuth === undefined) return own
  const { mode, tokens = [] } = clientAuth
  const clients =
    mode === 'require'
      ? 'Clients need a certificate of the given authority.'
      : 'Clients can present a certificate of the given authority.'
  const credentials =
    tokens.length === 0 ? '' : ` Those with ${counted(tokens.length, 'name')} need no token.`
  return `${own} ${clients}${credentials}`
}

/** Connections that a browser opens to one host. */
const BROWSER_CONNECTIONS = 6

/**
 * Returns why a policy of the endpoint that serves this page may lock out the person who sets it;
 * undefined if it does not.
 *
 * @param admitted whether `allow` and `deny` admit the person's address; undefined if unknown.
 */
export function describeLockOut(policy: Policy, admitted: boolean | undefined): string | undefined {
  if (policy.administration === false) {
    return '“Administration” removes the console from this endpoint.'
  }
  if (admitted === false) return '“Who may connect” does not admit your address.'
  if (admitted === undefined && (policy.allow !== undefined || policy.deny !== undefined)) {
    return '“Who may connect” may not admit your address.'
  }
  if ((policy.maxConnections ?? Number.POSITIVE_INFINITY) < BROWSER_CONNECTIONS) {
    return `“Connections” may be too few for this page, which uses up to ${BROWSER_CONNECTIONS}.`
  }
  if (policy.tls?.clientAuth?.mode === 'require') {
    return '“Client certificates” closes connections of browsers without one.'
  }
  return policy.closesAt && '“Removed” removes the endpoint at its time, and this page with it.'
}
