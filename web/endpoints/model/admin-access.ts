import {
  type Address,
  formatHost,
  isWildcard,
  parseAddress,
} from '../../server/contract/address.ts'
import { SYSTEM_DATABASE } from '../../server/contract/database.ts'
import { type EndpointRow, stateOf } from './endpoint-rows.ts'
import { reaches } from './mapping.ts'

/** The parts of `location` that tell through which endpoint the page came. */
export type PageLocation = Pick<Location, 'protocol' | 'hostname' | 'port'>

const LOOPBACK = ['127.0.0.1', '::1', 'localhost']

/**
 * The address of the endpoint through which this page came: the one that its URL names, else one on
 * this machine or on every address with the same port. `undefined` behind a proxy.
 */
export function yourEndpoint(page: PageLocation, addresses: readonly string[]): string | undefined {
  const scheme = page.protocol === 'https:' ? 'ssl' : 'tcp'
  const port = Number(page.port || (scheme === 'ssl' ? 443 : 80))
  const host = page.hostname.replace(/^\[|\]$/g, '')
  const candidates = addresses.flatMap((text) => {
    const parsed = parseAddress(text)
    const { address } = parsed.ok ? parsed : { address: undefined }
    if (address === undefined || address.scheme !== scheme || address.port !== port) return []
    return [{ text, address }]
  })
  const isHere = ({ address }: { address: Address }, wanted: readonly string[]) =>
    address.scheme !== 'unix' && wanted.includes(address.host)
  const found =
    candidates.find((candidate) => isHere(candidate, [host])) ??
    (LOOPBACK.includes(host) ? candidates.find((each) => isHere(each, LOOPBACK)) : undefined) ??
    candidates.find(({ address }) => isWildcard(address))
  return found?.text
}

/** Whether the console can be used through a row now: it listens, on some node, and reaches `_system`. */
export const isWayIn = ({ databases, listeners }: EndpointRow): boolean =>
  databases !== null &&
  listeners.some((one) => stateOf(one) === 'listening') &&
  reaches(databases, SYSTEM_DATABASE)

/** Where a browser finds the console through an address; `undefined` for a unix socket. */
export function consoleUrl(text: string, page: PageLocation): string | undefined {
  const parsed = parseAddress(text)
  if (!parsed.ok || parsed.address.scheme === 'unix') return undefined
  const { scheme, host, port } = parsed.address
  const name = isWildcard(parsed.address) ? page.hostname.replace(/^\[|\]$/g, '') : host
  return `${scheme === 'ssl' ? 'https' : 'http'}://${formatHost(name)}:${port}/_console/endpoints`
}
