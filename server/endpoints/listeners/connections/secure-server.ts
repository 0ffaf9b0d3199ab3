import {
  createSecureContext,
  createServer,
  type SecureContext,
  type Server,
  type TlsOptions,
} from 'node:tls'
import type { CertificateSource, ServedCertificate } from '../../../certificates/certificates.ts'
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
 * @param challengeFor answers challenges of an ACME directory (RFC 8737).
 */
export function createSecureServer(
  certificates: readonly ServedCertificate[],
  tls: Policy['tls'],
  challengeFor?: CertificateSource['challengeFor'],
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
    ...selectBy(select, challengeFor),
  })
}

/** The protocol with which an ACME directory validates a name (RFC 8737 §3). */
export const CHALLENGE_PROTOCOL = 'acme-tls/1'

/** Returns the options that choose a protocol and a certificate. */
function selectBy(
  select: ReturnType<typeof createSelect>,
  challengeFor: CertificateSource['challengeFor'],
): TlsOptions {
  if (challengeFor === undefined) {
    return {
      ALPNProtocols: ['http/1.1'],
      SNICallback: (name, callback) => callback(null, select(name)),
    }
  }
  // With TLS 1.3, the protocol is chosen before the certificate.
  const asked = new WeakSet<object>()
  return {
    ALPNCallback(this: object, { protocols }) {
      if (!protocols.includes(CHALLENGE_PROTOCOL))
        return protocols.find((one) => one === 'http/1.1')
      asked.add(this)
      return CHALLENGE_PROTOCOL
    },
    SNICallback(this: object, name, callback) {
      if (!asked.has(this)) {
        callback(null, select(name))
        return
      }
      challengeFor(name).then(
        (context) => callback(null, context && createSecureContext(context)),
        (error: Error) => callback(error),
      )
    },
  }
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
