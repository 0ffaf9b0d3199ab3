import { createSecureContext, createServer, type SecureContext, type Server } from 'node:tls'
import type { ServedCertificate } from '../../../certificates/certificates.ts'
import type { Policy } from '../../../contract/endpoints/policy.ts'
import { HTTP_LIMITS } from '../http-engine.ts'

/** Maximum number of TLS handshakes in progress on an endpoint. Beyond it, the oldest is closed. */
export const HANDSHAKES = 1_000

/**
 * Creates a TLS server that does not listen: the listener passes connections to it. A change of the
 * certificates or the policy replaces it, so that its session tickets, which have a key of their
 * own, end with it, and open connections go on.
 *
 * @param certificates at least one; the first is for clients that name no host.
 */
export function createSecureServer(
  certificates: readonly ServedCertificate[],
  tls: Policy['tls'],
): Server {
  const { minVersion, clientAuth } = tls ?? {}
  const common = {
    ...(minVersion && { minVersion: `TLSv${minVersion}` as const }),
    ...(clientAuth && { ca: clientAuth.ca }),
  }
  const select = createSelect(
    certificates.map(({ hosts, context }, at) => ({
      hosts,
      // The server itself has the first.
      secureContext: at === 0 ? undefined : createSecureContext({ ...context, ...common }),
    })),
  )
  return createServer({
    ...certificates[0]?.context,
    ...common,
    handshakeTimeout: HTTP_LIMITS.headersTimeout,
    requestCert: clientAuth !== undefined,
    rejectUnauthorized: clientAuth?.mode === 'require',
    ALPNProtocols: ['http/1.1'],
    SNICallback: (name, callback) => callback(null, select(name)),
  })
}

interface Choice {
  readonly hosts: readonly string[]
  readonly secureContext: SecureContext | undefined
}

/**
 * Returns a function that chooses the context for a host name: an exact name comes before a
 * wildcard. Unknown names get the first, as clients without a name do.
 */
function createSelect(choices: readonly Choice[]): (name: string) => SecureContext | undefined {
  const byName = new Map<string, SecureContext | undefined>()
  for (const { hosts, secureContext } of choices) {
    for (const host of hosts) if (!byName.has(host)) byName.set(host, secureContext)
  }
  return (name) => {
    const exact = name.toLowerCase()
    if (byName.has(exact)) return byName.get(exact)
    return byName.get(`*${exact.slice(exact.indexOf('.'))}`)
  }
}
