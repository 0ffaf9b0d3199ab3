import { includesDatabase, SYSTEM_DATABASE } from '../../../server/contract/database.ts'
import {
  type Address,
  formatHost,
  isIpLiteral,
  isLoopback,
  isLoopbackHost,
  isWildcard,
  parseAddress,
} from '../../../server/contract/endpoints/address.ts'
import type { ListenerStatus } from '../../../server/contract/endpoints/listener.ts'
import { stateOf } from '../../../server/contract/endpoints/listener-state.ts'
import type { Policy } from '../../../server/contract/endpoints/policy.ts'
import type { EndpointRow } from './endpoint-rows.ts'

/** The part of `location` that says how this browser reaches the server. */
export type PageLocation = Pick<Location, 'hostname'>

/** Returns whether an endpoint with this mapping serves the console. Null: it is not configured. */
export const servesConsole = (mapping: readonly string[] | null): boolean =>
  mapping !== null && includesDatabase(mapping, SYSTEM_DATABASE)

/** Returns whether a policy lets an endpoint serve the console now. Without one, it does. */
export const permitsConsole = (policy: Policy | null | undefined): boolean =>
  policy?.enabled !== false && policy?.administration !== false

/** Returns whether a policy lets an endpoint serve the console with no end. */
export const keepsConsole = (policy: Policy | null | undefined): boolean =>
  permitsConsole(policy) && policy?.closesAt === undefined

/**
 * Returns whether the console stays available through a row: it listens on a node, reaches
 * `_system`, and its policy permits it with no end.
 */
export const isAdminAccess = ({ databases, listeners, policy }: EndpointRow): boolean =>
  servesConsole(databases) &&
  keepsConsole(policy) &&
  listeners.some((one) => stateOf(one) === 'listening')

/**
 * Returns the address at which clients reach an endpoint: the wildcard if its host is a name that
 * resolves to one.
 */
export const reachedAddress = (
  address: string,
  listeners: readonly Pick<ListenerStatus, 'bound'>[],
): string => listeners.find(({ bound }) => isWildcardText(bound))?.bound ?? address

/** Returns whether the text is a wildcard address. */
export function isWildcardText(text: string | undefined): boolean {
  const parsed = text === undefined ? undefined : parseAddress(text)
  return parsed?.ok === true && isWildcard(parsed.address)
}

/** Returns the host of a page, without brackets. */
export const pageHost = ({ hostname }: PageLocation): string => hostname.replace(/^\[|\]$/g, '')

/**
 * Returns the host at which this browser reaches an address. For a wildcard, this is the host of
 * the page; `undefined` if that is an IP address of the other family, which the wildcard does not
 * serve.
 */
export function reachableHost(
  address: Exclude<Address, { readonly scheme: 'unix' }>,
  page: PageLocation,
): string | undefined {
  if (!isWildcard(address)) return address.host
  const host = pageHost(page)
  return isIpLiteral(host) && isIpv6(host) !== isIpv6(address.host) ? undefined : host
}

const isIpv6 = (host: string): boolean => host.includes(':')

/**
 * Returns the URL of the console at an address; `undefined` for a unix socket, and for a wildcard
 * that does not serve the host of the page.
 */
export function consoleUrl(text: string, page: PageLocation): string | undefined {
  const parsed = parseAddress(text)
  if (!parsed.ok || parsed.address.scheme === 'unix') return undefined
  const { scheme, port } = parsed.address
  const host = reachableHost(parsed.address, page)
  if (host === undefined) return undefined
  return `${scheme === 'ssl' ? 'https' : 'http'}://${formatHost(host)}:${port}/_console/endpoints`
}

/** Another endpoint that serves the console. */
export interface OtherConsole {
  readonly address: string
  readonly url: string
}

/**
 * Returns the first endpoint that this browser can reach. Loopback counts only if the page uses it.
 */
export function findOtherConsole(
  adminEndpoints: readonly { address: string; listeners?: readonly ListenerStatus[] }[],
  page: PageLocation,
): OtherConsole | undefined {
  const onLoopback = isLoopbackHost(pageHost(page))
  for (const { address, listeners = [] } of adminEndpoints) {
    const reached = reachedAddress(address, listeners)
    const parsed = parseAddress(reached)
    const url = consoleUrl(reached, page)
    if (!parsed.ok || url === undefined) continue
    if (onLoopback || !isLoopback(parsed.address)) return { address, url }
  }
  return undefined
}
