import {
  type Address,
  formatHost,
  isLoopback,
  isWildcard,
} from '../../contract/endpoints/address.ts'

/** The URLs of the console and advice on reaching it from elsewhere. */
export interface ConsoleUrls {
  /** At most two: the public URL and a URL of this machine. */
  readonly urls: readonly string[]
  /** A sentence for the operator; undefined if nothing is missing. */
  readonly advice: string | undefined
}

type TcpAddress = Exclude<Address, { scheme: 'unix' }>

/**
 * Returns the URLs at which people can sign in. Signing in requires the public URL or a loopback
 * host (see `oauth2/routes.ts`): `http://0.0.0.0:8529` shows the console, but the sign-in fails.
 *
 * @param addresses of listeners that expose `_system`.
 */
export function consoleUrls(
  addresses: readonly Address[],
  publicOrigin: string | undefined,
): ConsoleUrls {
  const network = addresses
    .filter((address) => address.scheme !== 'unix')
    // Prefers plain HTTP, which shows no certificate warning.
    .sort((a, b) => Number(a.scheme === 'ssl') - Number(b.scheme === 'ssl'))
  const origins = [
    ...(publicOrigin === undefined ? [] : [publicOrigin]),
    ...network
      .flatMap((address) => {
        const host = localHost(address)
        return host === undefined ? [] : originOf(address, host)
      })
      .slice(0, 1),
  ]
  return {
    urls: [...new Set(origins)].map((origin) => `${origin}/_console/`),
    advice: publicOrigin === undefined ? adviceFor(network) : undefined,
  }
}

function adviceFor(network: readonly TcpAddress[]): string | undefined {
  if (network.length === 0) {
    return 'To sign in, put a proxy in front of an endpoint that serves _system and start with --public-url.'
  }
  const reachable = network.find((address) => !isLoopback(address))
  if (reachable === undefined) return undefined
  const host = isWildcard(reachable) ? '<this machine>' : formatHost(reachable.host)
  return `To sign in from other machines, start with --public-url ${originOf(reachable, host)}`
}

/** Returns the loopback host at which this machine reaches the address, or undefined. */
function localHost(address: TcpAddress): string | undefined {
  if (isWildcard(address)) return address.host === '::' ? '[::1]' : '127.0.0.1'
  return isLoopback(address) ? formatHost(address.host) : undefined
}

const originOf = ({ scheme, port }: TcpAddress, host: string): string =>
  `${scheme === 'ssl' ? 'https' : 'http'}://${host}:${port}`
