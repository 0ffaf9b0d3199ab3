import { type Address, formatHost, isLoopback, isWildcard } from '../contract/address.ts'

/** Where a browser can sign in to the console, and what to change if that is not enough. */
export interface ConsoleUrls {
  /** At most two: the public URL, and a URL of this machine. */
  readonly urls: readonly string[]
  /** A sentence for the operator; undefined if nothing is missing. */
  readonly advice: string | undefined
}

type TcpAddress = Exclude<Address, { scheme: 'unix' }>

/**
 * Returns the URLs at which people can sign in: a sign-in needs the public URL or a loopback host
 * (see `own-origin.ts`), so `http://0.0.0.0:8529` shows the console and cannot sign in.
 *
 * @param addresses of listeners that reach `_system`.
 */
export function consoleUrls(
  addresses: readonly Address[],
  publicOrigin: string | undefined,
): ConsoleUrls {
  const network = addresses
    .filter((address) => address.scheme !== 'unix')
    // Without a certificate warning if possible.
    .sort((a, b) => Number(a.scheme === 'ssl') - Number(b.scheme === 'ssl'))
  const local = network.find((address) => localHost(address) !== undefined)
  const origins = [
    ...(publicOrigin === undefined ? [] : [publicOrigin]),
    ...(local === undefined ? [] : [originOf(local, localHost(local) ?? '')]),
  ]
  return {
    urls: [...new Set(origins)].map((origin) => `${origin}/_console/`),
    advice: publicOrigin === undefined ? adviceFor(network) : undefined,
  }
}

function adviceFor(network: readonly TcpAddress[]): string | undefined {
  if (network.length === 0) {
    return 'To sign in, put a proxy in front of an endpoint that reaches _system and start with --public-url.'
  }
  const reachable = network.find((address) => !isLoopback(address))
  if (reachable === undefined) return undefined
  const host = isWildcard(reachable) ? '<this machine>' : formatHost(reachable.host)
  return `To sign in from other machines, start with --public-url ${originOf(reachable, host)}`
}

/** The loopback host by which this machine reaches the address; undefined if there is none. */
function localHost(address: TcpAddress): string | undefined {
  if (isWildcard(address)) return address.host === '::' ? '[::1]' : '127.0.0.1'
  return isLoopback(address) ? formatHost(address.host) : undefined
}

const originOf = ({ scheme, port }: TcpAddress, host: string): string =>
  `${scheme === 'ssl' ? 'https' : 'http'}://${host}:${port}`
