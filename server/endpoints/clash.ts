import { type Address, isWildcard } from '../contract/address.ts'

/**
 * Whether of two addresses on one machine only one can be open. Of names it is not known where they
 * lead: with the same port they may.
 */
export function clash(one: Address, other: Address): boolean {
  if (one.scheme === 'unix' || other.scheme === 'unix') {
    return one.scheme === 'unix' && other.scheme === 'unix' && one.path === other.path
  }
  if (one.port !== other.port) return false
  const names = [one.host, other.host].some((host) => /[a-z]/.test(host))
  return one.host === other.host || isWildcard(one) || isWildcard(other) || names
}
