import { isIP } from 'node:net'
import { type Address, isWildcard } from '../../../contract/endpoints/address.ts'
import { Failure } from '../../../failure.ts'
import type { Listener } from '../../listeners/listener.ts'

/**
 * Whether two addresses on one machine cannot both be bound. Host names are not resolved: a name is
 * assumed to clash with any host on the same port. Pass the bound address of an open listener.
 */
export function conflicts(one: Address, other: Address): boolean {
  if (one.scheme === 'unix' || other.scheme === 'unix') {
    return one.scheme === 'unix' && other.scheme === 'unix' && one.path === other.path
  }
  if (one.port !== other.port) return false
  const [family, otherFamily] = [isIP(one.host), isIP(other.host)]
  if (family === 0 || otherFamily === 0) return true
  // IPv6 sockets are v6-only.
  if (family !== otherFamily) return false
  return one.host === other.host || isWildcard(one) || isWildcard(other)
}

/** Why no endpoint can be opened at an address. */
export interface BindFailure {
  readonly reason: Failure
  /** The endpoint of this node that uses the address or its port. */
  readonly endpoint?: string | undefined
}

/**
 * Explains why an address could not be opened. If an endpoint of this node has the port, the
 * message names it.
 */
export function explainBindFailure(
  reason: Failure,
  address: Address,
  listeners: Iterable<Listener>,
): BindFailure {
  if (reason.details.systemCode !== 'EADDRINUSE' || address.scheme === 'unix') return { reason }
  for (const { state, name, address: configured, bound } of listeners) {
    if (state !== 'listening' || !conflicts(bound ?? configured, address)) continue
    const message = `Port ${address.port} is used by the endpoint ${name}. Choose another port. (EADDRINUSE)`
    const { cause, details } = reason
    return { reason: new Failure('conflict', message, { ...details, cause }), endpoint: name }
  }
  return { reason }
}
